// SPDX-License-Identifier: BSD-3-Clause
// Splits text for scores: into words as sacreBLEU does for BLEU, into words as the package rouge-score does
// for ROUGE, and into characters without white space for chrF. text_scores.cpp splits generated text and
// references here, and compares them with ngram_counts.hpp. The words must be those of the two packages, or
// scores cannot be compared with published ones. Rules that need Unicode categories are in
// unicode_splitting.cpp.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace encore::ngrams {

/// Separates ASCII punctuation and symbols, except "'", a period or comma between digits, and a dash that
/// follows no digit (mteval-v13a, sacreBLEU's 13a). Decodes entities such as &quot;. White space is that of
/// Unicode.
std::vector<std::string> split_13a(std::string_view text);
/// Splits like split_13a, but does not decode entities, for text that other rules have separated (sacreBLEU's
/// TokenizerRegexp).
std::vector<std::string> split_symbols(std::string_view text);

/// Returns the runs of letters and digits of ASCII, in lower case (rouge-score without its stemmer).
std::vector<std::string> split_rouge(std::string_view text);

/// Returns the characters (code points, UTF-8) without white space. A byte that is not UTF-8 counts as a
/// character.
std::vector<std::string_view> characters(std::string_view text);

/// Returns all characters, including white space (is_white_space).
std::vector<std::string_view> all_characters(std::string_view text);
bool is_white_space(std::string_view character);
/// Returns the words between white space.
std::vector<std::string> split_words(std::string_view text);
/// Returns the text without white space at its end.
std::string_view without_end(std::string_view text);

}  // namespace encore::ngrams
