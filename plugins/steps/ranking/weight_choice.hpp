// SPDX-License-Identifier: BSD-3-Clause
// Chooses the weight with which two rankings are joined, and says whether the joined one helps. The fits of
// the steps `search` and `rerank` call these functions, which are pure. Stored knowledge follows from them,
// so a change needs a new version of both steps.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace encore::ranking {

using Gains = std::vector<double>;  ///< nDCG@10 of each query

double mean(const Gains& gains);

struct WeightedGains {
  double weight = 0.0;  ///< the best of 0.05, 0.10, ... 0.95 for all queries; of equal ones the smallest
  /// The gain of each query with a weight that it did not choose (cross-validation): the queries are split
  /// into parts by their numbers, and each part gets the weight that is best for all the others.
  Gains unseen;
};

/// `gains(weight)` returns the gains of all queries with this weight. With more `parts`, the weights of the
/// parts are nearer to the one that is used in the end.
WeightedGains best_weight(const std::function<Gains(double weight)>& gains, std::size_t parts);

/// The mean of the differences of two rankings of the same queries, with its 95 % interval.
struct GainInterval {
  double mean = 0.0, low = 0.0, high = 0.0;
  std::size_t queries = 0;

  /// Returns whether the difference can be relied on. The interval of fewer than 20 queries is too narrow.
  bool helps() const { return low > 0.0 && queries >= 20; }
};

/// Returns `gains` less `other`, with an interval by a paired bootstrap over queries.
GainInterval gain_over(const Gains& gains, const Gains& other, std::uint64_t seed);

}  // namespace encore::ranking
