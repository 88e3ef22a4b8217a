// SPDX-License-Identifier: BSD-3-Clause
// ExampleTests runs the permutation test (example_scores.hpp) on the stored predictions of two candidates.
// comparison.cpp calls it once for each pair; the object keeps the files that it has read. A reason why
// there is no test is shown to users as it is; its words may change.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "analysis/comparison.hpp"

namespace encore::analysis {

class ExampleTests {
 public:
  ExampleTests(store::Store& store, const Metric& metric);

  /// Fills `pair.examples`, or `pair.no_examples` with the reason. The predictions of each run are read once.
  void test(const std::vector<const Replicate*>& a, const std::vector<const Replicate*>& b, Pair& pair);

 private:
  PermutationTest tested(const std::vector<const Replicate*>& a, const std::vector<const Replicate*>& b,
                         bool same_set);
  std::vector<ExampleSums> read(const std::vector<const Replicate*>& replicates);
  /// Returns why nothing can be tested, and what can be tested instead.
  std::string refusal(const std::vector<const Replicate*>& a, const std::vector<const Replicate*>& b) const;

  store::Store& store_;
  Metric metric_;
  std::optional<MeasureCells> cells_;         ///< nothing if the metric cannot be computed from examples
  std::map<std::int64_t, ExampleSums> sums_;  ///< by number of the run
};

}  // namespace encore::analysis
