// SPDX-License-Identifier: BSD-3-Clause
// tpe_point(): proposes a point with the tree-structured Parzen estimator (Bergstra et al. 2011); propose.cpp
// calls it. Trials are split into the best tenth and the others; both groups give a density, l and g
// (parzen.hpp). Candidates are drawn from l, and the one with the highest l/g is proposed, which maximises
// the expected improvement. A trial without a variable, which the conditions leave out, does not count for
// it: that is the tree. Stored searches are computed again, so it does not change.
#pragma once

#include <cstdint>
#include <vector>

#include "plan/search/history.hpp"

namespace encore::plan::search {

/// Returns the point. `number` selects the random numbers of this proposal.
Point tpe_point(const std::vector<RandomVariable>& space, const SearchOptions& options,
                const History& history, std::int64_t number);

}  // namespace encore::plan::search
