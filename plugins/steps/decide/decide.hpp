// SPDX-License-Identifier: BSD-3-Clause
// The step "decide" decides which answers of a classifier are given automatically, which a person reviews,
// and which requests are refused because they belong to no class. Its thresholds keep a promise about errors,
// or minimize a cost. decide_plugin.cpp registers it; the worker calls it through AppStep (encore/step.hpp).
// Experiment files have the names of the options and measures, so these never change. Read fitting.hpp next.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <encore/step.hpp>

#include "fitting.hpp"

namespace encore::decide {

class Decide final : public AppStep {
 public:
  static constexpr const char* summary =
      "puts each request into one of three bands: `answer` (automatically), `review` (by a person) or "
      "`refuse`, because the request is out of scope, that is, belongs to no class. The step before it must "
      "give a label and the probability of every class, as `predict` does with a classifier. The thresholds "
      "are fitted on the development set: either promises about errors hold (Angelopoulos et al. 2021), or "
      "the mean cost is lowest. So give `error`, or `cost_wrong` and `cost_review`; promises and costs "
      "exclude each other";
  static constexpr const char* select = "max dev/automation";
  static Schema options();
  static std::vector<Measure> measures();

  Decide(const Options& options, const StepContext& context);

  StepFields fields() const override;
  bool learns() const override { return distance_ != "off"; }
  bool is_fitted() const override { return true; }
  void fit(const StepSets& sets) override;
  std::string knowledge() const override { return knowledge_text(knowledge_); }
  void restore(std::string_view knowledge) override;
  std::vector<std::string> notes() const override { return notes_; }
  Records apply(const Records& records) override;
  void measure(const Records& records, const Records& given, Statistics& statistics) const override;

 private:
  /// Returns the name of a field of the step that is decided on.
  std::string field(const char* name) const { return of_ + "." + name; }
  /// Returns the requests in the records, which must outlive them. Throws Error for values that are not
  /// probabilities. `needs_vectors`: throws Error if a request has no vector.
  std::vector<Request> requests_in(const Records& records, bool needs_vectors) const;
  TrainingVectors training_vectors(const Records& train) const;

  Settings settings_;
  std::string of_, truth_, distance_;
  Knowledge knowledge_;
  bool is_ready_ = false;  ///< fit() or restore() was called
  std::vector<std::string> notes_;
};

}  // namespace encore::decide
