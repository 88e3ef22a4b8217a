// decide: what a search does next, as a pure function of what it knows. No database, no clock, no state of
// its own: the same history gives the same decision, on every machine and however often it is asked. That is
// what lets `exp verify SEARCH` recompute every decision of a search from its rows.
// Read next: tpe.hpp, which proposes points; app/search_session.hpp, which does what is decided.
#pragma once

#include <cstdint>
#include <vector>

#include "plan/search/history.hpp"

namespace encore::search {

/// The epochs at which a trial is judged, rising; the last are all epochs.
std::vector<std::int64_t> rungs_of(const SearchOptions& options);

/// Asked whenever a place is free. In this order:
/// 1. a trial that may go on is promoted, the one at the highest rung first;
/// 2. a trial that was observed and may not is pruned;
/// 3. while the limits allow it a new trial is proposed;
/// 4. while trials are being trained: wait;
/// 5. where none was ever trained to its end, the best one is;
/// 6. the best complete trials that are not confirmed yet, as many as the limits say, are trained again with
///    fresh seeds;
/// 7. finish.
/// asha: L. Li et al., "A system for massively parallel hyperparameter tuning" (2020), algorithm 2: of those
/// that have come to a rung the best 1/eta go on; a pruned trial is promoted when it belongs to them later.
/// median: D. Golovin et al., "Google Vizier" (2017): a trial goes on unless it is worse than the median of
/// those that came to the rung before; a pruned one stays pruned.
Decision decide(const std::vector<RandomVariable>& space, const SearchOptions& options,
                const SearchLimits& limits, const History& history);

/// What was known when decision `index` was made: those before it, and the observations that it had seen.
History known_to(const History& history, std::size_t index);

/// The first decision of the history that decide does not make again of what it had seen: its index.
std::optional<std::size_t> first_different(const std::vector<RandomVariable>& space,
                                           const SearchOptions& options, const History& history);

}  // namespace encore::search
