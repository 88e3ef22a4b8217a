// SPDX-License-Identifier: BSD-3-Clause
// The step "translate_with_terms": translates a text with a model of the task translate, and obeys a glossary
// and a translation memory. It keeps tags, placeholders, addresses and numbers, estimates the quality of each
// translation, and leaves the worst to people. translate_with_terms_plugin.cpp registers it; the worker calls
// it through AppStep (encore/step.hpp). Experiment files have the names of the options and stored runs the
// knowledge, so these never change. Read next: protected_spans.hpp, glossary.hpp, placing.hpp, quality.hpp.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <encore/generates_text.hpp>
#include <encore/step.hpp>

#include "decide/logistic.hpp"
#include "glossary.hpp"
#include "placing.hpp"
#include "protected_spans.hpp"

namespace encore::translate_with_terms {

class TranslateWithTerms final : public AppStep {
 public:
  static constexpr const char* summary =
      "translates a text with a model of the task translate. The translation has the terms of a glossary, "
      "and "
      "the tags, placeholders, addresses and numbers of the text; sentences of a translation memory get "
      "their "
      "stored translation. The development set chooses how sure the model must be; the other translations, "
      "and "
      "those that lack a term, are left to a person";
  static constexpr bool asks_model = true;
  static constexpr const char* select = "max dev/bleu";
  static Schema options();
  static std::vector<Measure> measures();

  TranslateWithTerms(const Options& options, const StepContext& context);

  StepFields fields() const override;
  bool is_fitted() const override { return review_share_ > 0.0; }
  void fit(const StepSets& sets) override;
  std::string knowledge() const override;
  void restore(std::string_view knowledge) override;
  std::vector<std::string> notes() const override { return notes_; }
  Records apply(const Records& records) override;
  void measure(const Records& records, const Records& given, Statistics& statistics) const override;

 private:
  /// A text on its way through the step.
  struct Job {
    std::string source;
    std::vector<Span> spans;              ///< of the source, all of them
    std::vector<Span> removed;            ///< those that the model does not read
    Stripped stripped;                    ///< the source without them
    std::vector<RequiredText> terms;      ///< of the glossary, with the forms of each
    std::vector<WrittenText> texts = {};  ///< of the model, the best first
    std::string translation = {};
    std::vector<std::string> missing = {};  ///< terms and spans that the translation lacks
    bool is_stored = false;                 ///< the translation is that of the memory
    bool is_copied = false;                 ///< there is nothing to translate
  };

  Job job_for(const std::string& source) const;
  void remove_spans(Job& job, bool values) const;
  std::vector<RequiredText> terms_of(std::string_view text) const;
  /// Asks the model for the sentences of these jobs. With `required` the beam is wider and the terms are
  /// required.
  void write(std::vector<Job*>& jobs, bool required);
  bool keeps_values(const Job& job, std::string_view text) const;
  bool has_terms(const Job& job, std::string_view text) const;
  std::vector<KnownPair> known_pairs(std::string_view source, std::string_view translation) const;
  void place_spans(std::vector<Job>& jobs);
  void note_missing(Job& job) const;
  std::vector<Job> translated(const Records::Texts& sources);
  /// Returns the estimated probability that the translation is not among the worst.
  double confidence_of(const Job& job) const;

  std::string name_;
  GeneratesText* model_;
  Glossary glossary_;
  TranslationMemory memory_;
  std::int64_t beam_, term_beam_;
  double review_share_;
  decide::Logistic logistic_;
  double threshold_ = 0.0;   ///< of the confidence, below which a person reviews
  double worst_chrf_ = 0.0;  ///< the largest chrF of the worst translations of the development set
  bool is_ready_ = false;
  std::vector<std::string> notes_;
};

}  // namespace encore::translate_with_terms
