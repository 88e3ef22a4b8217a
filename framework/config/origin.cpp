// SPDX-License-Identifier: BSD-3-Clause
// Writes the origin of each option of a run as JSON, reads it back, and finds the place of an option. The
// database stores this JSON, so its form never changes. Read origin.hpp first.
#include "config/origin.hpp"

#include <cstdlib>

#include <nlohmann/json.hpp>

namespace encore::config {

namespace {

constexpr Source all_sources[] = {Source::fallback, Source::file, Source::sweep, Source::command_line};

// Parses "a:b.toml:14:3" into file, line, column. A string without two numbers at its end is a file.
Place place_from_text(const std::string& text) {
  const std::size_t second = text.rfind(':');
  const std::size_t first = second == std::string::npos || second == 0 ? second : text.rfind(':', second - 1);
  const auto digits = [](const std::string& part) {
    return !part.empty() && part.size() < 10 && part.find_first_not_of("0123456789") == std::string::npos;
  };
  if (first == std::string::npos || first == second) return {text, 0, 0};
  const std::string line = text.substr(first + 1, second - first - 1);
  const std::string column = text.substr(second + 1);
  if (!digits(line) || !digits(column)) return {text, 0, 0};
  return {text.substr(0, first), std::stoi(line), std::stoi(column)};
}

}  // namespace

const char* name_of(Source source) {
  switch (source) {
    case Source::fallback:
      return "default";
    case Source::file:
      return "file";
    case Source::sweep:
      return "sweep";
    case Source::command_line:
      return "command line";
  }
  return "unknown";
}

nlohmann::json origins_to_json(const Origins& origins) {
  nlohmann::json json = nlohmann::json::object();
  for (const auto& [key, origin] : origins) {
    nlohmann::json& entry = json[key];
    entry["source"] = name_of(origin.source);
    if (origin.place.known()) entry["at"] = origin.place.text();
  }
  return json;
}

Origins origins_from_json(const nlohmann::json& json) {
  Origins origins;
  if (!json.is_object()) throw Error("\"origin\" must be an object, one entry per option");
  for (const auto& [key, entry] : json.items()) {
    Origin& origin = origins[key];
    const auto source = entry.is_object() ? entry.find("source") : entry.end();
    bool known = false;
    for (const Source candidate : all_sources)
      if (source != entry.end() && *source == name_of(candidate)) {
        origin.source = candidate;
        known = true;
      }
    if (!known) throw Error("the origin of \"" + key + "\" has no known \"source\"");
    if (entry.contains("at") && entry.at("at").is_string()) origin.place = place_from_text(entry.at("at"));
  }
  return origins;
}

Place place_of(const Origins& origins, const std::string& key) {
  const auto exact = origins.find(key);
  if (exact != origins.end()) return exact->second.place;
  const std::string prefix = key + ".";
  const auto below = origins.lower_bound(prefix);
  if (below != origins.end() && below->first.starts_with(prefix)) return below->second.place;
  const std::size_t dot = key.rfind('.');
  return dot == std::string::npos ? Place{} : place_of(origins, key.substr(0, dot));
}

std::string located(const Origins& origins, const std::string& key, const std::string& message) {
  return Problem{place_of(origins, key), key, message}.text();
}

}  // namespace encore::config
