// SPDX-License-Identifier: BSD-3-Clause
// The task "translate": lists the measures of the whole text (BLEU, chrF), then those of tokens
// (text_to_text.hpp). Trainer and inference call it through Task; runs store the names of measures, so these
// never change. Read translate.hpp first.
#include "translate.hpp"

#include "ngrams/text_scores.hpp"

namespace encore::translate {

Schema Translate::options() {
  return TextToText::options().choice(
      "bleu_tokenizer", "13a", {"13a", "intl", "char", "zh"},
      {.help = "the words of BLEU, as with --tokenize of sacreBLEU. `13a`: for scripts with blanks between "
               "words; `intl`: splits at the punctuation of all scripts; `char`: every character is a word; "
               "`zh`: for Chinese"});
}

std::vector<Measure> Translate::measures() {
  std::vector<Measure> all = ngrams::translation_measures();
  for (Measure& measure : token_measures()) all.push_back(std::move(measure));
  return all;
}

void Translate::add_scores(std::string_view written, std::string_view reference,
                           Statistics& statistics) const {
  ngrams::add_translation(written, reference, statistics, tokenizer_);
}

}  // namespace encore::translate
