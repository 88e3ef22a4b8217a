// SPDX-License-Identifier: BSD-3-Clause
// Parses JSON from files, databases and other programs: text that nests too deep is refused before any code
// recurses over it, and invalid JSON is reported with its line and column. Also writes long lists of numbers,
// and limits the number of values: parsed, each takes some 100 bytes, so that 64 MB of "0,0,0" would take 3
// GB. Almost every folder calls it. The check of the depth must stay before the parsing.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

#include <encore/error.hpp>

namespace encore {

/// An error in a JSON text. what() is "line 3, column 14: no JSON" or "line 3, column 14: nested more than
/// 100 levels deep".
class JsonError : public Error {
 public:
  JsonError(std::string_view text, std::size_t byte, const std::string& problem);
  std::size_t line() const { return line_; }
  /// The byte of the problem, counted from 1. If the text ends too early, it is the length plus 1.
  std::size_t byte() const { return byte_; }

 private:
  std::size_t line_, byte_;
};

/// Throws JsonError if arrays and objects nest deeper than most_levels. The text need not be JSON.
void require_shallow_json(std::string_view text);

/// Parses a text; `Json` is nlohmann::json or nlohmann::ordered_json. Throws JsonError.
template <class Json = nlohmann::json>
Json parse_json(std::string_view text);

/// Parses a text. Returns null if it is empty, is not JSON, or nests too deep.
template <class Json = nlohmann::json>
Json json_or_null(std::string_view text);

/// Returns [a,b,...] with enough digits to distinguish float32 values; null for a number that is not finite.
std::string json_list(std::span<const float> numbers);

extern template nlohmann::json parse_json(std::string_view text);
extern template nlohmann::ordered_json parse_json(std::string_view text);
extern template nlohmann::json json_or_null(std::string_view text);
extern template nlohmann::ordered_json json_or_null(std::string_view text);

/// The largest number of values in a file from elsewhere. The largest known tokenizer.json has two million.
inline constexpr std::size_t most_json_values = 4'000'000;

/// Returns the number of separators outside of strings plus one, which counts numbers, strings and names. The
/// text need not be JSON.
std::size_t count_json_values(std::string_view text);

/// Throws Error if the text has more than most_json_values.
void require_few_json_values(std::string_view text);

}  // namespace encore
