// SPDX-License-Identifier: BSD-3-Clause
// ranked() and best_front(): order trials from the best to the worst: by the value of one objective, or by
// Pareto fronts of several. decide.cpp and tpe.cpp use the order for decisions, leaderboard.cpp for people.
// Equal trials keep their order, and this does not change, because decisions of stored searches are computed
// again. Read next: history.hpp.
#pragma once

#include <cstddef>
#include <vector>

#include "plan/search/history.hpp"

namespace encore::plan::search {

/// Returns a cost: smaller is better for every objective. NaN is the worst.
double cost_of(double value, const Objective& objective);
/// Returns whether every objective is finite.
bool is_finite(const Observation& observation);
/// Returns whether every objective has a value, infinities included.
bool is_defined(const Observation& observation, const std::vector<Objective>& objectives);

/// Returns the order of the observations from the best to the worst. One objective orders by value. Several
/// order by Pareto front (Deb et al. 2002, "NSGA-II"), within a front by crowding distance, the loneliest
/// first. Equal ones keep the order in which they are given.
std::vector<std::size_t> ranked(const std::vector<const Observation*>& observations,
                                const std::vector<Objective>& objectives);
/// Orders the last observation of each trial in the same way, with trials at a higher rung in front.
/// Proposals depend on this order, so it must not change: verification makes those of older searches again.
/// Users see Leaderboard::order.
std::vector<std::size_t> ranked_by_way(const std::vector<const Observation*>& last,
                                       const SearchOptions& options);

/// Returns the first front of complete trials, as places in `observations`: no other trial beats them in
/// every objective. For one objective these are all trials with the best value.
std::vector<std::size_t> best_front(const std::vector<const Observation*>& observations,
                                    const std::vector<Objective>& objectives);

}  // namespace encore::plan::search
