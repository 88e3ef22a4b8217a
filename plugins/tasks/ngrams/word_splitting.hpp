// How texts are cut for scores: into words as sacreBLEU's tokenizers do it for BLEU, into words as the
// package rouge-score does it for ROUGE, and into characters without white space for chrF. Place in the flow:
// a text that was generated, or a reference -> here -> ngram_counts.hpp, text_scores.hpp. What needs
// Unicode's categories stands in unicode_splitting.cpp.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace encore::ngrams {

/// Punctuation and symbols of ASCII stand alone but for a quotation mark "'", a period or comma between
/// digits and a dash that follows no digit (mteval-v13a, 13a of sacreBLEU). Entities such as &quot; are
/// undone. White space is that of Unicode.
std::vector<std::string> split_13a(std::string_view text);
/// The same without the entities: of a text whose words other rules have set apart (TokenizerRegexp of
/// sacreBLEU).
std::vector<std::string> split_symbols(std::string_view text);

/// Runs of letters and digits of ASCII, in lower case (rouge-score without its stemmer).
std::vector<std::string> split_rouge(std::string_view text);

/// The characters (code points, UTF-8) that are no white space. A byte that is not UTF-8 is a character.
std::vector<std::string_view> characters(std::string_view text);

/// All characters, and what parts words.
std::vector<std::string_view> all_characters(std::string_view text);
bool is_white_space(std::string_view character);
/// What white space parts.
std::vector<std::string> split_words(std::string_view text);
/// Without white space at its end.
std::string_view without_end(std::string_view text);

}  // namespace encore::ngrams
