// SPDX-License-Identifier: BSD-3-Clause
// The step "rerank": orders the hits of a search again, by what a model of pairs (request, document) says
// about each. rerank_plugin.cpp registers it; the worker calls it through AppStep (encore/step.hpp). A search
// compares vectors that were computed apart; such a model reads both at once, so it is slower and often
// better (Nogueira and Cho 2019). Experiment files have the names of the options, so these never change.
// Read next: ranking/hits.hpp.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <encore/step.hpp>

#include "ranking/hits.hpp"

namespace encore::rerank {

class Rerank final : public AppStep {
 public:
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
  StepModel* model_;
};

}  // namespace encore::rerank
