// SPDX-License-Identifier: BSD-3-Clause
// The step "abstractive_summary": asks a model of the task `summarize` to write the summary of a text. A text
// that is longer than the model reads is given to it in segments, and then the summaries of the segments,
// until one summary is left. summary_plugin.cpp registers it; the worker calls it through AppStep
// (encore/step.hpp). Experiment files have the names of options and fields, so these never change. Read next:
// summary_step.hpp.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "summary_step.hpp"

namespace encore::summary {

class AbstractiveSummary final : public SummaryStep {
 public:
  static constexpr const char* summary =
      "lets a model write the summary of a text, and of a long one a summary of summaries";
  static constexpr bool asks_model = true;
  static Schema options();

  /// Throws OptionError if the model does not read a source.
  AbstractiveSummary(const Options& options, const StepContext& context);

  Records apply(const Records& records) override;

 private:
  /// Returns what the model writes for each source; "" for a blank one.
  Records::Texts written_for(const Records::Texts& sources);

  StepModel* model_;
  std::size_t segment_words_;
};

/// Joins neighbouring parts of a text, with blanks between, to segments of at most `words` words, each with
/// as many parts as fit. A part with more words is a segment of its own.
std::vector<std::string> joined_segments(const std::vector<std::string>& parts, std::size_t words);

}  // namespace encore::summary
