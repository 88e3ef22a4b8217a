// Splits text of any script into words for BLEU and ROUGE, as the options task.bleu_tokenizer and
// task.rouge_tokenizer name it. Place in the flow: text_scores.hpp -> here, or word_splitting.hpp for the
// defaults.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace encore::ngrams {

/// Each value works as the tokenizer of sacreBLEU with this name (--tokenize).
enum class BleuTokenizer : std::uint8_t {
  mteval_13a,  ///< "13a"
  intl,        ///< punctuation that stands beside no digit, and every symbol, alone (mteval-v14)
  character,   ///< "char": every character
  zh,          ///< every Chinese character alone, the rest as 13a does it
};

/// The words that ROUGE compares.
enum class RougeTokenizer : std::uint8_t {
  ascii,      ///< runs of letters and digits of ASCII, in lower case: as the package rouge-score
  unicode,    ///< runs of letters, marks and numbers of any script, in lower case
  character,  ///< "char": each of these letters and numbers with its marks, for scripts without blanks
};

/// Returns the value for a name that the option accepts.
BleuTokenizer bleu_tokenizer(std::string_view name);
RougeTokenizer rouge_tokenizer(std::string_view name);

std::vector<std::string> split(std::string_view text, BleuTokenizer tokenizer);
std::vector<std::string> split(std::string_view text, RougeTokenizer tokenizer);

}  // namespace encore::ngrams
