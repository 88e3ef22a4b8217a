// SPDX-License-Identifier: BSD-3-Clause
// The step "split": cuts the text of a request into sentences or lines, from which the steps behind it make a
// summary. It asks no model. summary_plugin.cpp registers it; the worker calls it through AppStep
// (encore/step.hpp). Experiment files have the names of options and fields, so these never change. Read next:
// text_parts.hpp.
#pragma once

#include <encore/step.hpp>

#include "text_parts.hpp"

namespace encore::summary {

class Split final : public AppStep {
 public:
  static constexpr const char* summary = "cuts a text into sentences or lines, for steps that summarize it";
  static Schema options();
  /// Throws OptionError if `line_ends` is set for lines.
  Split(const Options& options, const StepContext& context);

  StepFields fields() const override { return {.reads = {"text"}, .truth = {}, .gives = {"texts"}}; }
  Records apply(const Records& records) override;

 private:
  bool takes_lines_;
  LineEnd line_end_;
};

}  // namespace encore::summary
