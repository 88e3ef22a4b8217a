// SPDX-License-Identifier: BSD-3-Clause
// The steps "extractive_summary" and "baseline_summary": make a summary of sentences of the text, with their
// places. The first one scores sentences by the vectors of a model, and may learn from the development set
// how; the second one needs no model. summary_plugin.cpp registers them; the worker calls them through
// AppStep (encore/step.hpp). Experiment files have the names of the options and stored runs the knowledge, so
// these never change. Read next: picking.hpp, ranker_choice.hpp.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "picking.hpp"
#include "summary_step.hpp"

namespace encore::summary {

/// What both steps have in common: the choice of sentences, their places, and their scores.
class PickingStep : public SummaryStep {
 public:
  Records apply(const Records& records) override;

 protected:
  static Schema picking_options();
  PickingStep(const Options& options, const StepContext& context);

  /// Returns the document of each record, with vectors if the method needs them.
  virtual std::vector<Document> documents_in(const Records& records) = 0;
  const Limits& limits() const { return limits_; }

  Ranker ranker_;
  bool is_ready_ = true;

 private:
  Limits limits_;
};

class ExtractiveSummary final : public PickingStep {
 public:
  static constexpr const char* summary =
      "makes a summary of the sentences that stand for the text, by the vectors of a model";
  static constexpr bool asks_model = true;
  static Schema options();

  /// Throws OptionError if the model gives no vectors, or for position and diversity without mmr.
  ExtractiveSummary(const Options& options, const StepContext& context);

  bool is_fitted() const override { return !method_ || method_ == Method::learned; }
  /// Chooses the method, or fits the weights of the method learned.
  void fit(const StepSets& sets) override;
  std::string knowledge() const override;
  void restore(std::string_view knowledge) override;
  std::vector<std::string> notes() const override { return notes_; }

 private:
  std::vector<Document> documents_in(const Records& records) override;

  StepModel* model_;
  std::optional<Method> method_;  ///< as the user set it; empty: fit() chooses
  std::uint64_t seed_;
  std::vector<std::string> notes_;
};

class BaselineSummary final : public PickingStep {
 public:
  static constexpr const char* summary =
      "makes a summary of the first or the longest sentences, to compare other summaries with";
  static Schema options();
  BaselineSummary(const Options& options, const StepContext& context);

 private:
  std::vector<Document> documents_in(const Records& records) override;
};

}  // namespace encore::summary
