// SPDX-License-Identifier: BSD-3-Clause
// Orders observations by cost, by Pareto front and by crowding distance. decide.cpp, tpe.cpp and
// leaderboard.cpp call it. Equal observations keep their order: proposals of stored searches depend on it.
// Read ranking.hpp first.
#include "plan/search/ranking.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace encore::plan::search {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

using Costs = std::vector<std::vector<double>>;  // by observation, then by objective

Costs costs_of(const std::vector<const Observation*>& observations,
               const std::vector<Objective>& objectives) {
  Costs costs(observations.size());
  for (std::size_t i = 0; i < costs.size(); ++i)
    for (std::size_t j = 0; j < objectives.size(); ++j)
      costs[i].push_back(
          j < observations[i]->values.size() ? cost_of(observations[i]->values[j], objectives[j]) : infinity);
  return costs;
}

bool dominates(const std::vector<double>& a, const std::vector<double>& b) {
  bool better = false;
  for (std::size_t j = 0; j < a.size(); ++j) {
    if (a[j] > b[j]) return false;
    better |= a[j] < b[j];
  }
  return better;
}

/// Returns the front of each trial: 0 if no trial dominates it, and so on.
std::vector<std::size_t> fronts_of(const Costs& costs) {
  std::vector<std::size_t> front(costs.size(), 0), dominators(costs.size(), 0);
  for (std::size_t i = 0; i < costs.size(); ++i)
    for (std::size_t k = 0; k < costs.size(); ++k) dominators[i] += dominates(costs[k], costs[i]) ? 1 : 0;
  std::vector<std::size_t> current;
  for (std::size_t i = 0; i < costs.size(); ++i)
    if (dominators[i] == 0) current.push_back(i);
  for (std::size_t level = 1; !current.empty(); ++level) {
    std::vector<std::size_t> next;
    for (const std::size_t i : current)
      for (std::size_t k = 0; k < costs.size(); ++k)
        if (dominates(costs[i], costs[k]) && --dominators[k] == 0) {
          front[k] = level;
          next.push_back(k);
        }
    current = std::move(next);
  }
  return front;
}

/// Returns for each member of a front the distance of its neighbours, summed over the objectives; infinite at
/// ends.
std::vector<double> crowding_of(const Costs& costs, const std::vector<std::size_t>& front) {
  std::vector<double> distance(costs.size(), 0.0);
  const std::size_t levels = front.empty() ? 0 : *std::ranges::max_element(front) + 1;
  for (std::size_t level = 0; level < levels; ++level)
    for (std::size_t j = 0; j < costs.front().size(); ++j) {
      std::vector<std::size_t> members;
      for (std::size_t i = 0; i < costs.size(); ++i)
        if (front[i] == level) members.push_back(i);
      std::ranges::stable_sort(members,
                               [&](std::size_t a, std::size_t b) { return costs[a][j] < costs[b][j]; });
      const double span = costs[members.back()][j] - costs[members.front()][j];
      distance[members.front()] = distance[members.back()] = infinity;
      for (std::size_t m = 1; m + 1 < members.size(); ++m)
        if (span > 0.0 && std::isfinite(span))
          distance[members[m]] += (costs[members[m + 1]][j] - costs[members[m - 1]][j]) / span;
    }
  return distance;
}

}  // namespace

double cost_of(double value, const Objective& objective) {
  if (std::isnan(value)) return infinity;
  return objective.maximize ? -value : value;
}

bool is_finite(const Observation& observation) {
  return !observation.values.empty() &&
         std::ranges::all_of(observation.values, [](double value) { return std::isfinite(value); });
}

bool is_defined(const Observation& observation, const std::vector<Objective>& objectives) {
  return observation.values.size() >= objectives.size() &&
         std::ranges::none_of(observation.values, [](double value) { return std::isnan(value); });
}

std::vector<std::size_t> ranked(const std::vector<const Observation*>& observations,
                                const std::vector<Objective>& objectives) {
  const Costs costs = costs_of(observations, objectives);
  std::vector<std::size_t> order(observations.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  if (objectives.size() == 1) {
    std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) { return costs[a][0] < costs[b][0]; });
    return order;
  }
  const std::vector<std::size_t> front = fronts_of(costs);
  const std::vector<double> crowding = crowding_of(costs, front);
  std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) {
    return front[a] != front[b] ? front[a] < front[b] : crowding[a] > crowding[b];
  });
  return order;
}

std::vector<std::size_t> ranked_by_way(const std::vector<const Observation*>& last,
                                       const SearchOptions& options) {
  const auto way = [&](std::size_t i) {
    return last[i]->outcome == Outcome::complete ? options.epochs : last[i]->epochs;
  };
  std::vector<std::size_t> order = ranked(last, options.objectives);
  std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) { return way(a) > way(b); });
  return order;
}

std::vector<std::size_t> best_front(const std::vector<const Observation*>& observations,
                                    const std::vector<Objective>& objectives) {
  const Costs costs = costs_of(observations, objectives);
  std::vector<std::size_t> best;
  for (std::size_t i = 0; i < costs.size(); ++i)
    if (is_finite(*observations[i]) && std::ranges::none_of(costs, [&](const std::vector<double>& other) {
          return dominates(other, costs[i]);
        }))
      best.push_back(i);
  return best;
}

}  // namespace encore::plan::search
