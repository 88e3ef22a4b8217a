// SPDX-License-Identifier: BSD-3-Clause
// Importance: how much of the variance of a score over the search space each variable explains alone, and
// each pair by interaction (functional analysis of variance over a forest, forest.hpp), and the average score
// for given values of one or two variables. `exp show SEARCH --json` and reports use it; no decision of a
// search depends on it, so the method may change.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "plan/search/forest.hpp"
#include "plan/search/history.hpp"

namespace encore::plan::search {

/// The smallest number of trials with a score from which the importance can be estimated.
inline constexpr std::size_t fewest_trials = 8;

/// The number of trees of the forest, and the share of the trees, in percent, that the range of a Share
/// covers.
inline constexpr std::size_t forest_trees = 64;
inline constexpr int middle_percent = 95;

/// A share of the variance, with the range of the middle 95 % of the trees.
struct Share {
  double share = 0.0;
  double low = 0.0, high = 0.0;
};
struct PairShare {
  std::size_t a = 0, b = 0;  ///< variables
  Share interaction;         ///< beyond what both explain alone
};

class Importance {
 public:
  /// Computes the importance for one objective. Trials are compared at their first observation, since later
  /// rungs were chosen by score. Returns nothing if trials are too few or their scores equal.
  static std::optional<Importance> of(const std::vector<RandomVariable>& space, const SearchOptions& options,
                                      const History& history, std::size_t objective);

  std::size_t trials() const { return samples_.values.size(); }
  std::size_t without() const { return without_; }  ///< trials without a finite score
  /// Returns the number of trials that were complete at their first observation, though there are rungs.
  /// Their score is that of their end.
  std::size_t ended() const { return ended_; }
  std::int64_t epochs() const { return epochs_; }                   ///< after which they are compared
  const std::vector<Share>& alone() const { return alone_; }        ///< by variable
  const std::vector<std::size_t>& order() const { return order_; }  ///< variables, the most important first
  /// Returns all pairs of the most important variables, the strongest interaction first.
  const std::vector<PairShare>& pairs() const { return pairs_; }
  /// Returns the average score over all other variables, by the forest.
  double marginal(const std::vector<std::size_t>& variables, const std::vector<double>& places) const;

 private:
  Importance() = default;

  Samples samples_;
  std::vector<Tree> forest_;
  std::vector<Share> alone_;
  std::vector<std::size_t> order_;
  std::vector<PairShare> pairs_;
  std::size_t without_ = 0, ended_ = 0;
  std::int64_t epochs_ = 0;
};

}  // namespace encore::plan::search
