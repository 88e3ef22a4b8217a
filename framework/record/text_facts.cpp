// SPDX-License-Identifier: BSD-3-Clause
// The JSON of TextFacts, the numbers about one input that `exp serve --monitor` has answered. The worker
// writes it (worker/serve_verb.cpp), the server puts it into a spool, a file of records, and `exp monitor`
// parses it there (store/served.cpp). A spool may be of another version: a field keeps its name, even where
// the member has a better one (tokens); a new field must be optional, and unknown ones are ignored. Read
// text_facts.hpp first.
#include "record/text_facts.hpp"

#include <cmath>

#include <nlohmann/json.hpp>

#include <encore/error.hpp>

#include "base/json_text.hpp"

namespace encore::record {
namespace {

using Json = nlohmann::ordered_json;

std::int64_t count_of(const Json& value, const std::string& name) {
  const std::int64_t count = value.get<std::int64_t>();
  if (count < 0) throw Error("\"" + name + "\" is negative");
  if (count > most_counted)
    throw Error("\"" + name + "\" is " + std::to_string(count) + "; it must be at most " +
                std::to_string(most_counted));
  return count;
}

std::int64_t count_in(const Json& json, const char* name) {
  return count_of(json.at(name), name);
}

std::optional<double> number_in(const Json& json, const char* name, double most) {
  if (!json.contains(name)) return {};
  const double value = json.at(name).get<double>();
  if (!(value >= 0.0 && value <= most)) throw Error(std::string("\"") + name + "\" is out of its range");
  return value;
}

const Json& object_in(const Json& json, const char* name) {
  const Json& object = json.at(name);
  if (!object.is_object()) throw Error(std::string("\"") + name + "\" is not an object");
  return object;
}

}  // namespace

std::string TextFacts::json() const {
  Json json = {{"pieces", tokens}, {"unknown", unknown}};
  if (confidence) json["confidence"] = *confidence;
  if (distance) json["distance"] = *distance;
  if (!labels.empty()) json["labels"] = labels;
  if (!fields.empty()) json["fields"] = fields;
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

TextFacts TextFacts::parse(std::string_view text) try {
  const Json json = parse_json<Json>(text);
  TextFacts facts{.tokens = count_in(json, "pieces"),
                  .unknown = count_in(json, "unknown"),
                  .confidence = number_in(json, "confidence", 1.0),
                  .distance = number_in(json, "distance", HUGE_VAL)};
  if (facts.unknown > facts.tokens) throw Error("more tokens are unknown than there are");
  if (json.contains("fields"))
    for (const auto& [name, value] : object_in(json, "fields").items())
      facts.fields[name] = value.get<std::string>();
  if (json.contains("labels"))
    for (const auto& [label, count] : object_in(json, "labels").items())
      facts.labels[label] = count_of(count, label);
  return facts;
} catch (const nlohmann::json::exception& error) {
  throw Error(std::string("no facts of a text: ") + error.what());
}

}  // namespace encore::record
