// SPDX-License-Identifier: BSD-3-Clause
// Importance: averages the variance that each tree of the forest explains, by variable and by pair. `exp
// show` and report/search_pictures.cpp call it. No decision depends on it, so it may change. Read
// importance.hpp first.
#include "plan/search/importance.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace encore::plan::search {

namespace {

/// Smaller shares are rounding errors of sums that should be zero.
constexpr double rounding = 1e-12;
/// Pairs are formed of at most this many of the most important variables.
constexpr std::size_t most_paired = 5;

Share share_of(std::vector<double> shares) {
  Share share;
  share.share = std::accumulate(shares.begin(), shares.end(), 0.0) / static_cast<double>(shares.size());
  std::ranges::sort(shares);
  const auto at = [&](double part) {
    return shares[static_cast<std::size_t>(std::lround(part * static_cast<double>(shares.size() - 1)))];
  };
  constexpr double outside = (1.0 - middle_percent / 100.0) / 2.0;
  share.low = at(outside);
  share.high = at(1.0 - outside);
  return share;
}

/// Returns the share over all trees. A tree without a split explains nothing.
template <class Part>
Share over_trees(const std::vector<Tree>& forest, const Part& part) {
  std::vector<double> shares;
  for (std::size_t tree = 0; tree < forest.size(); ++tree) {
    const double all = forest[tree].variance();
    const double share = all > 0.0 ? part(tree) / all : 0.0;
    shares.push_back(share < rounding ? 0.0 : std::min(share, 1.0));
  }
  return share_of(std::move(shares));
}

}  // namespace

std::optional<Importance> Importance::of(const std::vector<RandomVariable>& space,
                                         const SearchOptions& options, const History& history,
                                         std::size_t objective) {
  Importance found;
  const std::vector<Axis> axes(space.begin(), space.end());
  for (const Axis& axis : axes) found.samples_.axes.push_back(axis.shape());
  const std::vector<TrialState> states = trial_states(history);
  for (std::size_t trial = 0; trial < states.size(); ++trial) {
    const double value =
        states[trial].has_values() ? states[trial].measured.front()->values.at(objective) : std::nan("");
    if (!std::isfinite(value)) {
      found.without_ += states[trial].last && states[trial].last != Outcome::repeated ? 1 : 0;
      continue;
    }
    found.epochs_ = std::max(found.epochs_, states[trial].measured.front()->epochs);
    const bool ended = states[trial].measured.front()->outcome == Outcome::complete;
    found.ended_ += ended && options.pruning != Pruning::none ? 1 : 0;
    found.samples_.values.push_back(value);
    std::vector<double>& places = found.samples_.places.emplace_back();
    for (std::size_t i = 0; i < axes.size(); ++i)
      places.push_back(axes[i].cell(history.trials[trial].point[i]).center());
  }
  const std::vector<double>& values = found.samples_.values;
  if (values.size() < fewest_trials || std::ranges::min(values) == std::ranges::max(values))
    return std::nullopt;
  found.forest_ = grow_forest(found.samples_, forest_trees);

  std::vector<std::vector<double>> main(space.size());  // by variable, then by tree: a variance
  for (std::size_t i = 0; i < space.size(); ++i) {
    for (const Tree& tree : found.forest_) main[i].push_back(tree.variance_by({i}));
    found.alone_.push_back(over_trees(found.forest_, [&](std::size_t tree) { return main[i][tree]; }));
    found.order_.push_back(i);
  }
  std::ranges::stable_sort(found.order_, [&](std::size_t a, std::size_t b) {
    return found.alone_[a].share > found.alone_[b].share;
  });
  const std::size_t paired = std::min(most_paired, found.order_.size());
  for (std::size_t i = 0; i < paired; ++i)
    for (std::size_t k = i + 1; k < paired; ++k) {
      const std::size_t a = found.order_[i], b = found.order_[k];
      found.pairs_.push_back({a, b, over_trees(found.forest_, [&](std::size_t tree) {
                                const double both = found.forest_[tree].variance_by({a, b});
                                return std::max(both - main[a][tree] - main[b][tree], 0.0);
                              })});
    }
  std::ranges::stable_sort(found.pairs_, [](const PairShare& a, const PairShare& b) {
    return a.interaction.share > b.interaction.share;
  });
  return found;
}

double Importance::marginal(const std::vector<std::size_t>& variables,
                            const std::vector<double>& places) const {
  double sum = 0.0;
  for (const Tree& tree : forest_) sum += tree.marginal(variables, places);
  return sum / static_cast<double>(forest_.size());
}

}  // namespace encore::plan::search
