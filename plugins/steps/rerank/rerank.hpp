// SPDX-License-Identifier: BSD-3-Clause
// The step "rerank": orders the hits of a search again, by what a model of pairs (request, document) says
// about each. rerank_plugin.cpp registers it; the worker calls it through AppStep (encore/step.hpp). A search
// compares vectors that were computed apart; such a model reads both at once, so it is slower and often
// better (Nogueira and Cho 2019). The order may also follow from both scores. Experiment files have the names
// of the options, and stored runs the knowledge, so these never change.
// Read next: ranking/hits.hpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <encore/step.hpp>

#include "ranking/hits.hpp"

namespace encore::rerank {

class Rerank final : public AppStep {
 public:
  static constexpr int version = 2;  // 1 gave no `model_scores`
  static constexpr const char* summary =
      "orders the hits of a search again: a model reads the request together with each document";
  static constexpr const char* select = ranking::usual_select;
  static constexpr bool asks_model = true;
  static Schema options();
  static std::vector<Measure> measures() { return ranking::hit_measures(); }

  /// Throws OptionError if no step stands before it, if the model does not read pairs, or if `label` is not a
  /// class of the model.
  Rerank(const Options& options, const StepContext& context);

  StepFields fields() const override;
  bool is_fitted() const override { return fits_weight_; }
  /// Chooses the weight of the model by nDCG@10: a weight between 0 and 1 if the joined order is better than
  /// that of the search and that of the model, both by more than chance (ranking/weight_choice.hpp).
  void fit(const StepSets& sets) override;
  std::string knowledge() const override;
  void restore(std::string_view knowledge) override;
  std::vector<std::string> notes() const override { return notes_; }
  /// Gives the best `k` hits. Equal scores keep the order of the search.
  Records apply(const Records& records) override;
  void measure(const Records& records, const Records& given, Statistics& statistics) const override {
    ranking::measure_hits(records.lists("labels"), given.lists("hits"), statistics);
  }

 private:
  /// Returns the score of each hit of each record, from the model's answers to all pairs.
  Records::NumberLists scores_of(const Records::Texts& requests, const Records::TextLists& documents);
  Records::Numbers scores_of_pairs(Records::Texts requests, Records::Texts documents);
  void require_pairs() const;
  void require_label() const;

  std::string name_, from_, label_;
  std::size_t kept_;
  double weight_;     ///< of the model, in [0, 1]; the search has the rest
  bool fits_weight_;  ///< fit() chooses it
  bool is_ready_;
  std::uint64_t seed_;
  StepModel* model_;
  std::vector<std::string> notes_;
};

}  // namespace encore::rerank
