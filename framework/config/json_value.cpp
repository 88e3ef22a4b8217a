// SPDX-License-Identifier: BSD-3-Clause
// Converts JSON to a Value, member by member, and gives each node the source of its option (default, file,
// sweep or command line), without line and column. A key that `origins` lacks counts as written in a file.
// experiment.cpp, plan/identity.cpp and plan/parent_filler.cpp call it. Identities are computed from the
// result, so a value must keep its type. Read value.hpp first.
#include "config/value.hpp"

#include <cstdint>
#include <limits>
#include <string>
#include <utility>

#include <nlohmann/json.hpp>

#include "config/error.hpp"

namespace encore::config {

namespace {

constexpr auto most_integer = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());

}  // namespace

Value value_from_json(const nlohmann::json& in, const std::string& key, const Origins& origins) {
  const auto known = origins.find(key);
  const Origin origin{known == origins.end() ? Source::file : known->second.source, {}};
  if (in.is_boolean()) return {in.get<bool>(), origin};
  if (in.is_number_unsigned() && in.get<std::uint64_t>() > most_integer)
    throw ConfigError(
        key, "expected an integer of at most " + std::to_string(most_integer) + ", found " + in.dump());
  if (in.is_number_integer()) return {in.get<std::int64_t>(), origin};
  if (in.is_number()) return {in.get<double>(), origin};
  if (in.is_string()) return {in.get<std::string>(), origin};
  if (in.is_array()) {
    Value::Array elements;
    for (const nlohmann::json& element : in) elements.push_back(value_from_json(element, key, origins));
    return {std::move(elements), origin};
  }
  if (!in.is_object()) throw ConfigError(key, "a value of a resolved experiment cannot be " + in.dump());
  Value::Table members;
  for (const auto& [name, member] : in.items())
    members.push_back({name, {}, value_from_json(member, key.empty() ? name : key + "." + name, origins)});
  return {std::move(members), origin};
}

}  // namespace encore::config
