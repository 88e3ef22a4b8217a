// SPDX-License-Identifier: BSD-3-Clause
// Items and counts of a review queue as JSON, for the command line and for HTTP. The names of the members are
// an interface for programs. Read queue_items.hpp first.
#include <nlohmann/json.hpp>

#include "review/queue_items.hpp"

namespace encore::review {

using Json = nlohmann::ordered_json;

Json item_json(const Item& item, Opinions opinions) {
  const auto number = [](const std::optional<double>& value) { return value ? Json(*value) : Json(); };
  const auto words = [](const std::optional<std::string>& value) { return value ? Json(*value) : Json(); };
  Json json = {{"id", item.id},
               {"run", item.run},
               {"digest", item.digest},
               {"band", name_of(item.band)},
               {"reason", name_of(item.reason)},
               {"proposed", item.proposed},
               {"confidence", number(item.confidence)},
               {"scope", number(item.scope)},
               {"queued", item.queued},
               {"text", words(item.text)},
               {"label", words(item.label)},
               {"holder", item.holder.empty() ? Json() : Json(item.holder)},
               {"held_until", item.holder.empty() ? Json() : Json(item.held_until)}};
  if (opinions == Opinions::hidden) return json;
  json["opinions"] = Json::array();
  for (const Opinion& each : item.opinions)
    json["opinions"].push_back({{"reviewer", each.reviewer}, {"label", each.label}, {"time", each.time}});
  return json;
}

Json counts_json(const QueueCounts& counts) {
  Json seen = Json::object();
  for (const Band band : {Band::answer, Band::review, Band::refuse}) {
    const auto found = counts.seen.find(band);
    seen[name_of(band)] = found == counts.seen.end() ? 0 : found->second;
  }
  return {{"waiting", counts.waiting}, {"done", counts.done}, {"seen", seen}};
}

}  // namespace encore::review
