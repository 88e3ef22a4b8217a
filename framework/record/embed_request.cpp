// SPDX-License-Identifier: BSD-3-Clause
// EmbedRequest: converts the request of `exp embed` to and from one JSON object. app/embed.cpp writes it,
// worker/embed_verb.cpp parses it. Both programs come from one build, so the form may change. Read
// embed_request.hpp first.
#include "record/embed_request.hpp"

#include "base/json_text.hpp"

namespace encore::record {

// The member "of" is sent as a number.
static void write_value(nlohmann::json& to, EmbedRequest::Of of) {
  to = static_cast<int>(of);
}
static void read_value(const nlohmann::json& from, const JsonPlace& place, EmbedRequest::Of& of) {
  std::size_t number = 0;
  encore::read_value(from, place, number);
  if (number > static_cast<std::size_t>(EmbedRequest::Of::analogy)) refuse_value(from, place, "0, 1 or 2");
  of = static_cast<EmbedRequest::Of>(number);
}

static void list(auto& field, A<EmbedRequest> auto& request) {
  field("of", request.of);
  field("queries", request.queries);
  field("texts", request.texts);
  field("count", request.count);
}

std::string EmbedRequest::text() const {
  return to_json_object(*this).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

EmbedRequest EmbedRequest::parse(const std::string& text) try {
  const auto request = from_json_object<EmbedRequest>(parse_json(text));
  if (request.of == Of::analogy && request.queries.size() != 3) throw Error("an analogy has three words");
  return request;
} catch (const std::exception& error) {
  throw Error(std::string("embed: the request on standard input cannot be read: ") + error.what());
}

}  // namespace encore::record
