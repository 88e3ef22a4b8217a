// SPDX-License-Identifier: BSD-3-Clause
// The task "summarize": a summary of a text, scored by ROUGE-1, ROUGE-2 and ROUGE-L of the generated text.
// Its base class in text_to_text.hpp does everything except these scores. Trainer and inference call it
// through Task. Runs store the names of its measures, so these never change. Read next:
// ngrams/text_scores.hpp.
#pragma once

#include <string_view>
#include <vector>

#include "ngrams/unicode_splitting.hpp"
#include "text_to_text.hpp"

namespace encore::summarize {

class Summarize final : public tasks::TextToText {
 public:
  static constexpr const char* summary =
      "a summary of a text: an encoder reads the source, a decoder writes the target";
  static constexpr const char* select = "max dev/rouge_l";
  static Schema options();
  static std::vector<Measure> measures();
  static std::vector<AdoptedModel> adopted() { return adopted_by("parallel"); }

  Summarize(const Options& options, const TaskContext& context)
      : TextToText(options, context, "summarize", "summary", "summaries"),
        tokenizer_(ngrams::rouge_tokenizer(options.text("rouge_tokenizer"))) {}

 private:
  void add_scores(std::string_view written, std::string_view reference,
                  Statistics& statistics) const override;

  ngrams::RougeTokenizer tokenizer_;
};

}  // namespace encore::summarize
