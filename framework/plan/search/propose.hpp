// SPDX-License-Identifier: BSD-3-Clause
// propose(): the point of the next trial, by the method of the search, and the two methods that need more
// than a random draw: tpe_point() and halton(). decide.cpp calls propose(). All are pure functions of their
// arguments. Points of stored searches are computed again, so they do not change for existing options. Read
// next: parzen.hpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "plan/search/history.hpp"

namespace encore::plan::search {

/// Returns the point of the next trial. If this point was proposed before, another one is drawn, at most a
/// few times, because a space may have fewer points than trials.
Point propose(const std::vector<RandomVariable>& space, const SearchOptions& options, const History& history);

/// Returns whether the next point is an independent draw, by the distributions of the variables.
bool is_drawn_at_random(const SearchOptions& options, const History& history);

/// Proposes a point with the tree-structured Parzen estimator (Bergstra et al. 2011). Trials are split into
/// the best tenth (at most 25 trials) and the others. The best give the density l, the others the density g
/// (parzen.hpp). Candidates are drawn from l, and the candidate with the highest l/g is proposed, which
/// maximizes the expected improvement. If the conditions leave a variable out of a trial, the trial does not
/// count for this variable; hence the word tree. `number` selects the random numbers of this proposal.
/// (tpe.cpp)
Point tpe_point(const std::vector<RandomVariable>& space, const SearchOptions& options,
                const History& history, std::int64_t number);

/// Returns coordinate `dimension`, in [0, 1), of point `number` of a scrambled Halton sequence, for the
/// method quasi_random. The points of the sequence fill a space more evenly than random ones. The coordinate
/// is the radical inverse of the point's number in a prime base for each dimension, with a random permutation
/// of each digit (A. B. Owen, "A randomized Halton algorithm in R", 2017). (halton.cpp)
double halton(std::int64_t seed, std::int64_t number, std::size_t dimension);

}  // namespace encore::plan::search
