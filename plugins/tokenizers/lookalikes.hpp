// SPDX-License-Identifier: BSD-3-Clause
// Letters that look like a Latin letter, for words that are disguised with them ("h\u043Euse" with a Cyrillic
// letter). bert_text.cpp replaces them if an experiment says so (tokenizer.fold_lookalikes). Models are
// trained with the result, so an entry must not change; tests/system/peers/compare_lookalikes.py derives them
// again.
//
// The source is confusables.txt of Unicode Technical Standard 39: Cyrillic, Greek, Armenian and Latin letters
// that it calls confusable with one ASCII letter, or whose capital it does (the small one then becomes the
// small letter: U+0442 is like "t" since U+0422 is like "T"). A capital that is like "l" becomes "I".
#pragma once

#include <utf8proc.h>

#include <algorithm>
#include <cstdint>
#include <iterator>

namespace encore::tokenizers {

struct Lookalike {
  std::int32_t letter;
  char latin;
};

/// The table is sorted by letter.
inline constexpr Lookalike lookalikes[] = {
    {0x131, 'i'},  {0x184, 'b'},  {0x185, 'b'},  {0x18D, 'g'},  {0x196, 'I'},  {0x1A6, 'R'},  {0x1BD, 's'},
    {0x1C0, 'l'},  {0x251, 'a'},  {0x261, 'g'},  {0x263, 'y'},  {0x269, 'i'},  {0x26A, 'i'},  {0x26F, 'w'},
    {0x280, 'r'},  {0x28B, 'u'},  {0x28F, 'y'},  {0x29D, 'j'},  {0x37F, 'J'},  {0x391, 'A'},  {0x392, 'B'},
    {0x395, 'E'},  {0x396, 'Z'},  {0x397, 'H'},  {0x399, 'I'},  {0x39A, 'K'},  {0x39C, 'M'},  {0x39D, 'N'},
    {0x39F, 'O'},  {0x3A1, 'P'},  {0x3A4, 'T'},  {0x3A5, 'Y'},  {0x3A7, 'X'},  {0x3B1, 'a'},  {0x3B2, 'b'},
    {0x3B3, 'y'},  {0x3B5, 'e'},  {0x3B6, 'z'},  {0x3B7, 'h'},  {0x3B9, 'i'},  {0x3BA, 'k'},  {0x3BC, 'm'},
    {0x3BD, 'v'},  {0x3BF, 'o'},  {0x3C1, 'p'},  {0x3C3, 'o'},  {0x3C4, 't'},  {0x3C5, 'u'},  {0x3C7, 'x'},
    {0x3DC, 'F'},  {0x3DD, 'f'},  {0x3F3, 'j'},  {0x3FA, 'M'},  {0x3FB, 'm'},  {0x405, 'S'},  {0x406, 'I'},
    {0x408, 'J'},  {0x410, 'A'},  {0x412, 'B'},  {0x415, 'E'},  {0x41A, 'K'},  {0x41C, 'M'},  {0x41D, 'H'},
    {0x41E, 'O'},  {0x420, 'P'},  {0x421, 'C'},  {0x422, 'T'},  {0x423, 'Y'},  {0x425, 'X'},  {0x42C, 'b'},
    {0x430, 'a'},  {0x432, 'b'},  {0x433, 'r'},  {0x435, 'e'},  {0x43A, 'k'},  {0x43C, 'm'},  {0x43D, 'h'},
    {0x43E, 'o'},  {0x440, 'p'},  {0x441, 'c'},  {0x442, 't'},  {0x443, 'y'},  {0x445, 'x'},  {0x44C, 'b'},
    {0x455, 's'},  {0x456, 'i'},  {0x458, 'j'},  {0x461, 'w'},  {0x474, 'V'},  {0x475, 'v'},  {0x4AE, 'Y'},
    {0x4AF, 'y'},  {0x4BB, 'h'},  {0x4BD, 'e'},  {0x4C0, 'I'},  {0x4CF, 'i'},  {0x501, 'd'},  {0x50C, 'G'},
    {0x50D, 'g'},  {0x51B, 'q'},  {0x51C, 'W'},  {0x51D, 'w'},  {0x54D, 'U'},  {0x54F, 'S'},  {0x555, 'O'},
    {0x561, 'w'},  {0x563, 'q'},  {0x566, 'q'},  {0x570, 'h'},  {0x578, 'n'},  {0x57C, 'n'},  {0x57D, 'u'},
    {0x57F, 's'},  {0x581, 'g'},  {0x584, 'f'},  {0x585, 'o'},  {0x1C80, 'b'}, {0x1C82, 'o'}, {0x1C83, 'c'},
    {0x1C84, 't'}, {0x1C85, 't'}, {0x1D04, 'c'}, {0x1D0F, 'o'}, {0x1D11, 'o'}, {0x1D1C, 'u'}, {0x1D20, 'v'},
    {0x1D21, 'w'}, {0x1D22, 'z'}, {0x1D26, 'r'}, {0x1D83, 'g'}, {0x1D8C, 'y'}, {0x1E9D, 'f'}, {0x1EFF, 'y'},
    {0xA647, 'i'}, {0xA731, 's'}, {0xA798, 'F'}, {0xA799, 'f'}, {0xA79F, 'u'}, {0xA7B2, 'J'}, {0xA7B3, 'X'},
    {0xA7B4, 'B'}, {0xA7B5, 'b'}, {0xAB32, 'e'}, {0xAB35, 'f'}, {0xAB3D, 'o'}, {0xAB47, 'r'}, {0xAB48, 'r'},
    {0xAB4E, 'u'}, {0xAB52, 'u'}, {0xAB53, 'x'}, {0xAB5A, 'y'},
};

/// Returns the ASCII letter that a character looks like: of the table, or of its compatibility decomposition,
/// as mathematical and fullwidth letters have one. Other characters are returned as they are.
inline std::int32_t without_disguise(std::int32_t c) {
  if (c < 0x80) return c;
  const auto* found = std::ranges::lower_bound(lookalikes, c, {}, &Lookalike::letter);
  if (found != std::end(lookalikes) && found->letter == c) return found->latin;
  utf8proc_int32_t points[32];  // Unicode needs at most 18
  int bound_class = 0;
  const auto count = utf8proc_decompose_char(
      c, points, 32, static_cast<utf8proc_option_t>(UTF8PROC_COMPAT | UTF8PROC_DECOMPOSE), &bound_class);
  const bool is_letter =
      count == 1 && ((points[0] >= 'a' && points[0] <= 'z') || (points[0] >= 'A' && points[0] <= 'Z'));
  return is_letter ? points[0] : c;
}

}  // namespace encore::tokenizers
