// SPDX-License-Identifier: BSD-3-Clause
// member(): reads a member of config.json, which may be absent; a member of another type is refused by name.
// pretrained_config.cpp and the families call it. The file may come from anyone, so sizes are limited. The
// names are those of `transformers`. Read next: family.hpp.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include <nlohmann/json.hpp>

#include <encore/error.hpp>

#include "config/value.hpp"

namespace encore::pretrained {

inline constexpr const char* padding_name = "pad_token_id";

/// The limit of widths, layers and numbers of tokens: far above any model, and far below an overflow of sums.
inline constexpr std::int64_t largest_size = std::numeric_limits<std::int32_t>::max();

/// Returns the member, or nothing if it is absent or null. Throws Error if it has another type; `kind` names
/// the expected type.
template <class T>
std::optional<T> member(const nlohmann::json& config, const char* name, const char* kind) {
  const auto found = config.find(name);
  if (found == config.end() || found->is_null()) return std::nullopt;
  const bool is_beyond =  // of std::int64_t, which would make it negative
      found->is_number_unsigned() &&
      found->get<std::uint64_t>() > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  const bool fits = std::is_same_v<T, std::string>    ? found->is_string()
                    : std::is_same_v<T, bool>         ? found->is_boolean()
                    : std::is_same_v<T, std::int64_t> ? found->is_number_integer() && !is_beyond
                                                      : found->is_number();
  if (!fits)
    throw Error(std::string(name) + " must be " + kind + ", found " + config::shortened(found->dump()));
  return found->get<T>();
}

inline bool is_set(const nlohmann::json& config, const char* name, bool fallback = false) {
  return member<bool>(config, name, "true or false").value_or(fallback);
}

/// The tokens that a decoder may read first: the name in task.target_start, and the member of config.json
/// with the number of that token.
inline constexpr std::pair<const char*, const char*> target_starts[] = {
    {"start", "bos_token_id"}, {"end", "eos_token_id"}, {"padding", padding_name}};

/// Returns the number of that token in a config.json that has those of all markers.
inline nlohmann::json target_start_token(const nlohmann::json& config, const std::string& role) {
  for (const auto& [name, token] : target_starts)
    if (role == name) return config.at(token);
  throw Error("task.target_start = \"" + role + "\" names no token");
}

}  // namespace encore::pretrained
