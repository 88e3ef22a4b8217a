// SPDX-License-Identifier: BSD-3-Clause
// Splits text of any script into words for BLEU and ROUGE, by the options task.bleu_tokenizer and
// task.rouge_tokenizer. text_scores.cpp calls it; the defaults are in word_splitting.hpp. The results must
// stay those of sacreBLEU's tokenizers of these names.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace encore::ngrams {

/// Each value works like the tokenizer of sacreBLEU with its name (--tokenize).
enum class BleuTokenizer : std::uint8_t {
  mteval_13a,  ///< "13a"
  intl,        ///< separates all symbols, and punctuation not beside digits (mteval-v14)
  character,   ///< "char": every character
  zh,          ///< every Chinese character alone, the rest as in 13a
};

/// Which words ROUGE compares.
enum class RougeTokenizer : std::uint8_t {
  ascii,      ///< runs of ASCII letters and digits, in lower case: as in rouge-score
  unicode,    ///< runs of letters, marks and numbers of any script, in lower case
  character,  ///< "char": each of these letters and numbers with its marks, for scripts without blanks
};

/// Returns the value for a name of the option.
BleuTokenizer bleu_tokenizer(std::string_view name);
RougeTokenizer rouge_tokenizer(std::string_view name);

std::vector<std::string> split(std::string_view text, BleuTokenizer tokenizer);
std::vector<std::string> split(std::string_view text, RougeTokenizer tokenizer);

}  // namespace encore::ngrams
