// SPDX-License-Identifier: BSD-3-Clause
// The step "predict": asks the model of a run, and gives what it answers to the steps after it.
// predict_plugin.cpp registers it; the worker calls it through AppStep (encore/step.hpp). Experiment files
// have the names of the options, so these never change.
#pragma once

#include <encore/step.hpp>

namespace encore::predict {

class Predict final : public AppStep {
 public:
  static constexpr const char* summary =
      "asks the model of a run and gives its answers to the steps after it";
  static constexpr bool asks_model = true;
  static Schema options();

  Predict(const Options& options, const StepContext& context);

  StepFields fields() const override;
  /// Gives the fields of the task's answer (label, score, scores, entities ...) without those that the task
  /// reads.
  Records apply(const Records& records) override;

 private:
  /// Returns the inputs whose vectors are given: the first text field that the model reads.
  const Records::Texts& texts_in(const Records& records) const;

  std::string name_;
  StepModel* model_;
  bool gives_vectors_;
};

}  // namespace encore::predict
