// SPDX-License-Identifier: BSD-3-Clause
// propose(): the point of the next trial, by the method of the search. decide.cpp calls it. It is a pure
// function of the space, the options and the history. Points of stored searches are computed again, so it
// does not change for existing options. Read next: tpe.hpp, halton.hpp.
#pragma once

#include <vector>

#include "plan/search/history.hpp"

namespace encore::plan::search {

/// Returns a new point. If the point was proposed before it draws again, a few times only, because a space
/// may have fewer points than trials.
Point propose(const std::vector<RandomVariable>& space, const SearchOptions& options, const History& history);

/// Returns whether the next point is an independent draw, by the distributions of the variables.
bool is_drawn_at_random(const SearchOptions& options, const History& history);

}  // namespace encore::plan::search
