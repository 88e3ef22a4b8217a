// SPDX-License-Identifier: BSD-3-Clause
// The task "translate": translation into another language, scored by BLEU and chrF of the generated text. Its
// base class in text_to_text.hpp does everything except these scores. Trainer and inference call it through
// Task. Runs store the names of its measures, so these never change. Read next: ngrams/text_scores.hpp.
#pragma once

#include <string_view>
#include <vector>

#include "ngrams/unicode_splitting.hpp"
#include "text_to_text.hpp"

namespace encore::translate {

class Translate final : public tasks::TextToText {
 public:
  static constexpr const char* summary =
      "a text in another language: an encoder reads the source, a decoder writes the target";
  static constexpr const char* select = "max dev/bleu";
  static Schema options();
  static std::vector<Measure> measures();
  static std::vector<AdoptedModel> adopted() { return adopted_by("parallel"); }

  Translate(const Options& options, const TaskContext& context)
      : TextToText(options, context, "translate", "translation", "translations"),
        tokenizer_(ngrams::bleu_tokenizer(options.text("bleu_tokenizer"))) {}

 private:
  void add_scores(std::string_view written, std::string_view reference,
                  Statistics& statistics) const override;

  ngrams::BleuTokenizer tokenizer_;
};

}  // namespace encore::translate
