// SPDX-License-Identifier: BSD-3-Clause
// Helpers that build the worst-case inputs of the other sources of this folder: text repeated, joined and
// numbered. Nothing else uses them.
#pragma once

#include <concepts>
#include <cstddef>
#include <string>

namespace encore::bounds {

inline std::string repeated(std::size_t count, const std::string& part) {
  std::string text;
  for (std::size_t i = 0; i < count; ++i) text += part;
  return text;
}

/// Returns part(0) + part(1) + ...
template <std::invocable<std::size_t> Part>
std::string repeated(std::size_t count, const Part& part) {
  std::string text;
  for (std::size_t i = 0; i < count; ++i) text += part(i);
  return text;
}

/// Joins the parts with `between` between them.
template <class Part>
std::string joined(std::size_t count, const Part& part, const std::string& between = ",") {
  std::string text;
  for (std::size_t i = 0; i < count; ++i) text += (i > 0 ? between : "") + part(i);
  return text;
}

/// Returns the name followed by the number, such as "key7".
inline std::string numbered(const std::string& name, std::size_t number) {
  return name + std::to_string(number);
}

}  // namespace encore::bounds
