// SPDX-License-Identifier: BSD-3-Clause
// SummaryStep: what the steps extractive_summary, baseline_summary and abstractive_summary have in common:
// the parts of a text that they read, their measures, and how a summary is left to people who rate it. The
// worker calls the steps through AppStep (encore/step.hpp). Stored runs have the names of fields and
// measures, so these never change. Read next: extractive_summary.hpp, abstractive_summary.hpp.
#pragma once

#include <string>
#include <vector>

#include <encore/step.hpp>

namespace encore::summary {

/// The field of the true summaries of a text; one is enough.
inline constexpr const char* references_field = "answers";

class SummaryStep : public AppStep {
 public:
  static constexpr const char* select = "max dev/rouge_l";
  /// ROUGE-1, ROUGE-2 and ROUGE-L of the field `text`, and its mean number of words. A record without a true
  /// summary adds nothing.
  static std::vector<Measure> measures();
  StepFields fields() const override;
  void measure(const Records& records, const Records& given, Statistics& statistics) const override;

 protected:
  /// Returns the options that all of these steps have.
  static Schema common_options();
  /// `gives`: the fields that the step gives beside `text` and those for people. Throws OptionError if no
  /// step stands before it.
  SummaryStep(const Options& options, const StepContext& context, std::vector<std::string> gives);

  const std::string& name() const { return name_; }
  /// Returns the parts of each text, as the step before gives them.
  const Records::TextLists& parts_of(const Records& records) const { return records.lists(from_ + ".texts"); }
  /// Returns the true summaries of each record.
  static Records::TextLists references_in(const Records& records);
  /// Returns an answer with these summaries: the field `text`, a line for people, and if people rate the
  /// summaries the fields for the review queue.
  Records answer_with(const Records& records, Records::Texts summaries) const;

 private:
  std::string name_, from_;
  bool is_rated_;
  std::vector<std::string> gives_;
};

}  // namespace encore::summary
