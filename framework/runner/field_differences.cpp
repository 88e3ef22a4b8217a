// SPDX-License-Identifier: BSD-3-Clause
// differing_fields(): flattens two JSON objects to dotted keys and compares the values. verifier.cpp calls it
// to explain why bits need not agree; its result is stored with the verification. Its members keep their
// names. Read verifier.hpp first.
#include "runner/verifier.hpp"

#include <map>
#include <string>

#include <nlohmann/json.hpp>

namespace encore::runner {

namespace {

/// Returns the leaves of an object by dotted key.
void flatten(const nlohmann::json& value, const std::string& key, std::map<std::string, nlohmann::json>& to) {
  if (!value.is_object()) {
    to[key] = value;
    return;
  }
  for (const auto& [name, member] : value.items()) flatten(member, key.empty() ? name : key + "." + name, to);
}

}  // namespace

nlohmann::json differing_fields(const nlohmann::json& run, const nlohmann::json& verification) {
  std::map<std::string, nlohmann::json> left, right;
  flatten(run, "", left);
  flatten(verification, "", right);
  for (const auto& [key, value] : left) right.try_emplace(key);
  nlohmann::json differences = nlohmann::json::array();
  for (const auto& [key, value] : right)
    if (value != left[key])
      differences.push_back({{"field", key}, {"run", left[key]}, {"verification", value}});
  return differences;
}

}  // namespace encore::runner
