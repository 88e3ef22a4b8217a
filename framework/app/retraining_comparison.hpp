// What `exp retrain` compares when a run is complete: the run and its parent on the set that both were scored
// on at their end, and on a new set, which their workers score now.
#pragma once

#include "analysis/retraining.hpp"
#include "app/run_plugins.hpp"
#include "store/store.hpp"

namespace encore {

/// Of which the new set is made.
struct NewTest {
  std::vector<DataFile> files;
  double held_out = 0.0;  ///< this share of them; 0: all

  /// "20 % of new.conll"
  std::string text() const;
};

/// The measure that compares them: `name` ("f1"), else that by which the run chose its checkpoints; on the
/// test set, or on the development set where there is no test set. Throws Error for one that the run has not,
/// or of which neither direction is better.
Metric compared_measure(Store& store, const RunRow& run, const std::string& name);

/// Everything but rule and verdict. Throws Error where predictions are gone or a worker refuses.
Retraining compare_with_parent(const ModelRequest& request, const App& app, Store& store, const RunRow& run,
                               const RunRow& parent, const Metric& measure, const NewTest& test);

/// Whether this is the comparison that compare_with_parent would make.
bool is_same_comparison(const Retraining& retraining, const RunRow& parent, const Metric& measure,
                        const NewTest& test);

}  // namespace encore
