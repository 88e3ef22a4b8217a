// SPDX-License-Identifier: BSD-3-Clause
// Text as code points: the Unicode functions of the tokenizers; the categories of WordPiece are in
// bert_categories.hpp, because its Unicode version is fixed. Each byte that is not UTF-8 becomes
// no_code_point. Tokens of trained models depend on these functions, so they must not change.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace encore::tokenizers {

inline constexpr std::int32_t no_code_point = -1;

struct CodePoint {
  std::int32_t value = no_code_point;
  std::size_t bytes = 1;
};

/// Returns the first code point of `text`, which must not be empty.
CodePoint first_code_point(std::string_view text);
/// Appends the code point as UTF-8.
void append(std::string& text, std::int32_t code_point);

/// Returns whether the code point has Unicode's property White_Space.
bool is_white_space(std::int32_t code_point);
/// Returns whether the code point is white space, a control or a format character. Words do not contain
/// these, and lines of a vocabulary file must not.
bool is_blank(std::int32_t code_point);
bool is_letter(std::int32_t code_point);  ///< categories L*
bool is_number(std::int32_t code_point);  ///< categories N*
/// Returns the code point in lower case, without regard to its context; unchanged if it has none.
std::int32_t lower(std::int32_t code_point);
/// Returns the number of bytes of the first user-perceived character (UAX 29) of `text`, which must be UTF-8
/// and not empty.
std::size_t first_grapheme_cluster(std::string_view text);
/// Composes the text (NFC). Bytes that are not UTF-8 are unchanged.
std::string composed(std::string_view text);

}  // namespace encore::tokenizers
