// SPDX-License-Identifier: BSD-3-Clause
// compare_with_parent(): the comparison of `exp retrain` after the new run is complete: the run and its
// parent on the set on which both were scored at their end, and on a new set, which workers score now.
// retrain.cpp calls it and stores the result (store/lineage.hpp), so an equal comparison is not made twice.
// Read next: analysis/retraining.hpp.
#pragma once

#include "analysis/retraining.hpp"
#include "app/run_plugins.hpp"
#include "store/store.hpp"

namespace encore::app {

/// The source of the new set: files with examples that neither run was trained on.
struct NewTest {
  std::vector<record::DataFile> files;
  double held_out = 0.0;  ///< this share of them; 0: all

  /// Returns, for example, "20 % of new.conll".
  std::string text() const;
};

/// Returns the measure of the comparison: `name` ("f1"), else the one that chose the run's checkpoints, on
/// the test set, or on the development set if there is no test set. Throws Error if the run does not have the
/// measure, or if the measure has no better direction.
Metric compared_measure(store::Store& store, const store::RunRow& run, const std::string& name);

/// Returns the comparison without rule and verdict. Throws Error if predictions are missing or a worker
/// fails.
analysis::Retraining compare_with_parent(const ModelRequest& request, const App& app, store::Store& store,
                                         const store::RunRow& run, const store::RunRow& parent,
                                         const Metric& measure, const NewTest& test);

/// Returns whether compare_with_parent would make this comparison.
bool is_same_comparison(const analysis::Retraining& retraining, const store::RunRow& parent,
                        const Metric& measure, const NewTest& test);

}  // namespace encore::app
