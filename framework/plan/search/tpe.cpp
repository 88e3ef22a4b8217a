// SPDX-License-Identifier: BSD-3-Clause
// tpe_point(): splits the trials into two groups and picks the best candidate. propose.cpp calls it. Group
// sizes, numbers of candidates and weights are those of Optuna's TPESampler; stored searches are recomputed
// with them, so they must not change. Read propose.hpp first.
#include "plan/search/propose.hpp"

#include <algorithm>
#include <cmath>

#include "plan/search/axis.hpp"
#include "plan/search/parzen.hpp"
#include "plan/search/ranking.hpp"
#include "plan/search/search_math.hpp"

namespace encore::plan::search {

namespace {

constexpr int candidates = 24;
constexpr std::size_t largest_best_group = 25;

struct Groups {
  std::vector<std::size_t> best, others;  // trials, by number
};

/// Splits trials into the best group and the others. Trials at a higher rung come before those that were
/// pruned earlier. Failed trials are among the others, so that their neighbourhood is avoided, and so are
/// trials that are being trained, so that parallel proposals differ.
Groups split(const SearchOptions& options, const History& history) {
  const std::vector<TrialState> states = trial_states(history);
  Groups groups;
  std::vector<std::size_t> trials;
  std::vector<const Observation*> last;
  for (std::size_t trial = 0; trial < states.size(); ++trial) {
    if (states[trial].has_values()) {
      trials.push_back(trial);
      last.push_back(states[trial].measured.back());
    } else if (states[trial].last != Outcome::repeated) {
      groups.others.push_back(trial);
    }
  }
  const std::vector<std::size_t> order = ranked_by_way(last, options);
  const std::size_t best = std::min((order.size() + 9) / 10, largest_best_group);
  for (std::size_t place = 0; place < order.size(); ++place)
    (place < best ? groups.best : groups.others).push_back(trials[order[place]]);
  std::ranges::sort(groups.best);
  std::ranges::sort(groups.others);
  return groups;
}

TrialDensity density_of(const std::vector<Axis>& axes, const std::vector<std::size_t>& trials,
                        const History& history) {
  std::vector<AxisShape> shapes;
  for (const Axis& axis : axes) shapes.push_back(axis.shape());
  std::vector<std::vector<Cell>> cells;
  for (const std::size_t trial : trials) {
    std::vector<Cell>& row = cells.emplace_back();
    for (std::size_t i = 0; i < axes.size(); ++i) {
      row.push_back(axes[i].cell(history.trials[trial].point[i]));
      row.back().absent = !history.trials[trial].active[i];
    }
  }
  return TrialDensity(std::move(shapes), cells);
}

}  // namespace

Point tpe_point(const std::vector<RandomVariable>& space, const SearchOptions& options,
                const History& history, std::int64_t number) {
  const Groups groups = split(options, history);
  const std::vector<Axis> axes(space.begin(), space.end());
  const TrialDensity good = density_of(axes, groups.best, history);
  const TrialDensity bad = density_of(axes, groups.others, history);
  Point chosen;
  double highest = 0.0;
  for (int candidate = 0; candidate < candidates; ++candidate) {
    const std::vector<double> places = good.sample([&](std::size_t axis) {
      const std::string key = axis < space.size() ? space[axis].key : "kernel of tpe";
      return uniform_draw(options.seed, number * candidates + candidate, key);
    });
    Point point;
    std::vector<Cell> cells;
    for (std::size_t i = 0; i < axes.size(); ++i) {
      point.push_back(axes[i].value(places[i]));
      cells.push_back(axes[i].cell(point.back()));
    }
    const double gain = good.log_density(cells) - bad.log_density(cells);
    if (candidate > 0 && !(gain > highest)) continue;
    chosen = std::move(point);
    highest = gain;
  }
  return chosen;
}

}  // namespace encore::plan::search
