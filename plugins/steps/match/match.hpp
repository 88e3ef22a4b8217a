// SPDX-License-Identifier: BSD-3-Clause
// The step "match": finds parts of a text by regular expressions of RE2, for values that need no model. It
// gives spans as a model of the task `ner` does, so that the step `extract` reads both. match_plugin.cpp
// registers it; the worker calls it through AppStep (encore/step.hpp). Experiment files have the names of the
// options and the expressions, so what they mean never changes. Read next: match.cpp, expression.hpp.
#pragma once

#include <string>
#include <vector>

#include <encore/step.hpp>

#include "expression.hpp"

namespace encore::match {

class Match final : public AppStep {
 public:
  static constexpr const char* summary =
      "finds parts of a text by regular expressions (RE2); the names of groups in them are the labels of the "
      "parts";
  static Schema options();

  /// Throws OptionError for an invalid expression.
  Match(const Options& options, const StepContext& context);

  StepFields fields() const override;
  Records apply(const Records& records) override;

 private:
  std::string field_;
  std::vector<Expression> expressions_;
};

}  // namespace encore::match
