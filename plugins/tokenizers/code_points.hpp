// Text as code points: what the tokenizers beside WordPiece need of Unicode. Bytes that are not UTF-8 come
// one by one as no_code_point.
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

/// The code point that `text`, which is not empty, begins with.
CodePoint first_code_point(std::string_view text);
/// Appends UTF-8.
void append(std::string& text, std::int32_t code_point);

/// Unicode's White_Space.
bool is_white_space(std::int32_t code_point);
/// White space, control and format characters: they stand in no word, and could not stand in a vocabulary
/// file.
bool is_blank(std::int32_t code_point);
bool is_letter(std::int32_t code_point);  ///< categories L*
bool is_number(std::int32_t code_point);  ///< categories N*
/// The lower-case letter of one code point, without context; others as they are.
std::int32_t lower(std::int32_t code_point);
/// The bytes of the user-perceived character (UAX 29) that `text`, which is UTF-8 and not empty, begins with.
std::size_t first_grapheme_cluster(std::string_view text);
/// Composed (NFC). What is not UTF-8 comes back as it is.
std::string composed(std::string_view text);

}  // namespace encore::tokenizers
