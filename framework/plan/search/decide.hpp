// SPDX-License-Identifier: BSD-3-Clause
// decide() returns what a search does next, as a pure function of what it knows. It uses no database, no
// clock and no state of its own: the same history gives the same decision, on every machine and at every
// call. So `exp verify SEARCH` can recompute every decision of a search from its rows, and the rules for
// existing options never change. Read next: propose.hpp, which proposes points; app/search_session.hpp, which
// carries out the decisions.
#pragma once

#include <cstdint>
#include <vector>

#include "plan/search/history.hpp"

namespace encore::plan::search {

/// Returns the numbers of epochs after which a trial is judged, ascending; the last one is the length of a
/// trial.
std::vector<std::int64_t> rungs_of(const SearchOptions& options);

/// Decides what to do when a worker is free. It tries these rules in order:
/// 1. promote a trial that may continue, the one at the highest rung first;
/// 2. prune a trial that was observed and may not continue;
/// 3. propose a new trial, while the limits allow it;
/// 4. wait, while trials are being trained;
/// 5. train the best trial to its end, if none was ever trained to its end;
/// 6. train the best complete trials again with fresh seeds, as many as the limits say, unless they are
///    confirmed already, and wait until these runs have ended;
/// 7. finish.
///
/// asha: L. Li et al., "A system for massively parallel hyperparameter tuning" (2020), algorithm 2: the best
/// 1/eta of the trials at a rung continue. A pruned trial is promoted if it is among them later.
/// median: D. Golovin et al., "Google Vizier" (2017): a trial continues unless it is worse than the median of
/// the trials that reached the rung before it. A pruned trial stays pruned.
Decision decide(const std::vector<RandomVariable>& space, const SearchOptions& options,
                const SearchLimits& limits, const History& history);

/// Returns the history at decision `index`: the earlier decisions, and the observations that were known then.
History known_to(const History& history, std::size_t index);

/// Returns the index of the first decision that decide() does not repeat from the history that it had seen.
std::optional<std::size_t> first_different(const std::vector<RandomVariable>& space,
                                           const SearchOptions& options, const History& history);

}  // namespace encore::plan::search
