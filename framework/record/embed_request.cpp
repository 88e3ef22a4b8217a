// SPDX-License-Identifier: BSD-3-Clause
// EmbedRequest: converts the request of `exp embed` to and from one JSON object. cli/embed_verb.cpp writes
// it, worker/embed_verb.cpp parses it. Both programs come from one build, so the form may change. Read
// embed_request.hpp first.
#include "record/embed_request.hpp"

#include <encore/error.hpp>
#include <nlohmann/json.hpp>

#include "base/json_text.hpp"

namespace encore {

std::string EmbedRequest::text() const {
  const nlohmann::json json = {
      {"of", static_cast<int>(of)}, {"queries", queries}, {"texts", texts}, {"count", count}};
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

EmbedRequest EmbedRequest::parse(const std::string& text) try {
  const nlohmann::json json = parse_json(text);
  const int of = json.at("of").get<int>();
  EmbedRequest request{.of = static_cast<Of>(of),
                       .queries = json.at("queries").get<std::vector<std::string>>(),
                       .texts = json.at("texts").get<std::vector<std::string>>(),
                       .count = json.at("count").get<std::size_t>()};
  if (of < 0 || of > static_cast<int>(Of::analogy)) throw Error("\"of\" is " + std::to_string(of));
  if (request.of == Of::analogy && request.queries.size() != 3) throw Error("an analogy has three words");
  return request;
} catch (const std::exception& error) {
  throw Error(std::string("embed: the request on standard input cannot be read: ") + error.what());
}

}  // namespace encore
