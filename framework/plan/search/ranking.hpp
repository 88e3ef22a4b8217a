// Which trials are better: by one objective its value, by several the Pareto fronts.
#pragma once

#include <cstddef>
#include <vector>

#include "plan/search/history.hpp"

namespace encore::search {

/// Smaller is better, whatever the objective wants; NaN is the worst.
double cost_of(double value, const Objective& objective);
/// Finite in every objective.
bool is_finite(const Observation& observation);
/// Whether every objective has a value, infinities included.
bool is_defined(const Observation& observation, const std::vector<Objective>& objectives);

/// The order of the observations from the best to the worst. By one objective: by value. By several: by
/// Pareto front (Deb et al. 2002, "NSGA-II"), within a front by crowding distance, the loneliest first.
/// What is equal stays in the order in which it is given.
std::vector<std::size_t> ranked(const std::vector<const Observation*>& observations,
                                const std::vector<Objective>& objectives);
/// The same of the last observation of each trial, where who came further stands in front. Proposals depend
/// on this order, so it must not change: verification makes those of older searches again. What people are
/// shown is Leaderboard::order.
std::vector<std::size_t> ranked_by_way(const std::vector<const Observation*>& last,
                                       const SearchOptions& options);

/// The first front of complete trials: those that no other one beats in every objective. By one objective
/// all that share the best value. Places in `observations`.
std::vector<std::size_t> best_front(const std::vector<const Observation*>& observations,
                                    const std::vector<Objective>& objectives);

}  // namespace encore::search
