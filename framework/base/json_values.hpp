// SPDX-License-Identifier: BSD-3-Clause
// Limits the number of values in a JSON text from elsewhere: parsed, each value takes some 100 bytes, so that
// 64 MB of "0,0,0" would take 3 GB. Place in the flow: config.json, tokenizer.json and similar files -> here
// -> parse_json (json_text.hpp).
#pragma once

#include <cstddef>
#include <string_view>

namespace encore {

/// The largest number of values in a file from elsewhere. The largest known tokenizer.json has two million.
inline constexpr std::size_t most_json_values = 4'000'000;

/// Returns the number of separators outside of strings plus one, which counts numbers, strings and names. The
/// text need not be JSON.
std::size_t count_json_values(std::string_view text);

/// Throws Error if the text has more than most_json_values.
void require_few_json_values(std::string_view text);

}  // namespace encore
