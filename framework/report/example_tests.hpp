// ExampleTests: the tests on stored predictions of pairs of candidates. Place in the flow: comparison.cpp
// asks once for each pair; the test itself is in example_scores.hpp.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "report/comparison.hpp"

namespace encore {

class ExampleTests {
 public:
  ExampleTests(Store& store, const std::string& metric);

  /// Fills `pair.examples`, or `pair.no_examples` with the reason. The predictions of each run are read once.
  void test(const std::vector<const Replicate*>& a, const std::vector<const Replicate*>& b, Pair& pair);

 private:
  using Counts = std::vector<NerCounts>;

  PermutationTest tested(const std::vector<const Replicate*>& a, const std::vector<const Replicate*>& b,
                         bool same_set);
  std::vector<Counts> read(const std::vector<const Replicate*>& replicates);

  Store& store_;
  std::string metric_;
  std::optional<ExampleMeasure> measure_;
  std::map<std::int64_t, Counts> counts_;  ///< by number of the run
};

}  // namespace encore
