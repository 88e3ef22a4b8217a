// Text as code points: the Unicode functions of the tokenizers other than WordPiece. Bytes that are not UTF-8
// become no_code_point one by one.
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

/// Returns the code point that `text`, which is not empty, begins with.
CodePoint first_code_point(std::string_view text);
/// Appends UTF-8.
void append(std::string& text, std::int32_t code_point);

/// Whether the code point is White_Space of Unicode.
bool is_white_space(std::int32_t code_point);
/// Whether it is white space, control or format character: words lack them, and so must a vocabulary
/// file.
bool is_blank(std::int32_t code_point);
bool is_letter(std::int32_t code_point);  ///< categories L*
bool is_number(std::int32_t code_point);  ///< categories N*
/// Returns the lower-case letter of one code point, without context; others are unchanged.
std::int32_t lower(std::int32_t code_point);
/// Returns the bytes of the user-perceived character (UAX 29) that `text`, which is UTF-8 and not empty,
/// begins with.
std::size_t first_grapheme_cluster(std::string_view text);
/// Composes the text (NFC). Bytes that are not UTF-8 are unchanged.
std::string composed(std::string_view text);

}  // namespace encore::tokenizers
