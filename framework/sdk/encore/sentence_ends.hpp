// SPDX-License-Identifier: BSD-3-Clause
// The rules for where a sentence ends, for code that cuts text: the passages of an index
// (index/passages.cpp) and the step `split` of applications. Words stand between white space of ASCII. The
// digest of an index of passages and the answers of stored runs follow from these rules, so they must stay.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

namespace encore {

inline constexpr std::string_view word_space = " \t\r\n\v\f";

/// Returns whether a sentence may end behind this word: it ends with . ! ? or their like, perhaps before
/// closing quotes and brackets. The rule knows no abbreviations.
inline bool ends_sentence(std::string_view word) {
  constexpr std::array<std::string_view, 8> closers = {
      "\"", "'", ")", "]", "}", "\xE2\x80\x9D", "\xE2\x80\x99", "\xC2\xBB"};
  // . ! ? the ellipsis, and the ideographic full stop, ! and ?
  constexpr std::array<std::string_view, 7> ends = {
      ".", "!", "?", "\xE2\x80\xA6", "\xE3\x80\x82", "\xEF\xBC\x81", "\xEF\xBC\x9F"};
  for (bool again = true; again;) {
    again = false;
    for (const std::string_view closer : closers)
      if (word.ends_with(closer)) {
        word.remove_suffix(closer.size());
        again = true;
      }
  }
  for (const std::string_view end : ends)
    if (word.ends_with(end)) return true;
  return false;
}

/// Returns whether a sentence may begin with this text: not with a small letter of ASCII.
inline bool begins_sentence(std::string_view text) {
  return text.empty() || !(text.front() >= 'a' && text.front() <= 'z');
}

/// Returns the number of line ends in white space; CR LF is one.
inline std::size_t line_ends_in(std::string_view space) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < space.size(); ++i)
    count += space[i] == '\n' || (space[i] == '\r' && space.substr(i + 1, 1) != "\n") ? 1 : 0;
  return count;
}

}  // namespace encore
