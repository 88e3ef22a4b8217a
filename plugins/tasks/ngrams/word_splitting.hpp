// Splits text for scores: into words as sacreBLEU's tokenizers do for BLEU, into words as the package
// rouge-score does for ROUGE, and into characters without white space for chrF. Place in the flow: generated
// text, or a reference -> here -> ngram_counts.hpp, text_scores.hpp. Rules that need Unicode's categories are
// in unicode_splitting.cpp.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace encore::ngrams {

/// Separates punctuation and symbols of ASCII, except for "'", a period or comma between digits and a dash
/// that follows no digit (mteval-v13a, 13a of sacreBLEU). Entities such as &quot; are decoded. White space is
/// that of Unicode.
std::vector<std::string> split_13a(std::string_view text);
/// Does the same without the entities, for text whose words other rules have separated (TokenizerRegexp of
/// sacreBLEU).
std::vector<std::string> split_symbols(std::string_view text);

/// Returns the runs of letters and digits of ASCII, in lower case (rouge-score without its stemmer).
std::vector<std::string> split_rouge(std::string_view text);

/// Returns the characters (code points, UTF-8) except white space. A byte that is not UTF-8 is a character.
std::vector<std::string_view> characters(std::string_view text);

/// Returns all characters; is_white_space finds those that separate words.
std::vector<std::string_view> all_characters(std::string_view text);
bool is_white_space(std::string_view character);
/// Returns the words between white space.
std::vector<std::string> split_words(std::string_view text);
/// Returns the text without white space at its end.
std::string_view without_end(std::string_view text);

}  // namespace encore::ngrams
