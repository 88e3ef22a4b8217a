// SPDX-License-Identifier: BSD-3-Clause
// The task "summarize": lists the measures of the whole text (ROUGE), then those of tokens
// (text_to_text.hpp). Trainer and inference call it through Task; runs store the names of measures, so these
// never change. Read summarize.hpp first.
#include "summarize.hpp"

#include "ngrams/text_scores.hpp"

namespace encore::summarize {

Schema Summarize::options() {
  return TextToText::options().choice(
      "rouge_tokenizer", "ascii", {"ascii", "unicode", "char"},
      {.help = "the words of ROUGE. `ascii`: sequences of letters a-z and digits, as in rouge-score; "
               "`unicode`: sequences of letters, marks and numbers of any script; `char`: each of these "
               "characters, for scripts without blanks"});
}

std::vector<Measure> Summarize::measures() {
  std::vector<Measure> all = ngrams::summary_measures();
  for (Measure& measure : token_measures()) all.push_back(std::move(measure));
  return all;
}

void Summarize::add_scores(std::string_view written, std::string_view reference,
                           Statistics& statistics) const {
  ngrams::add_summary(written, reference, statistics, tokenizer_);
}

}  // namespace encore::summarize
