// SPDX-License-Identifier: BSD-3-Clause
// Words a notice for a run whose metric could not choose a checkpoint: it had one value at every evaluation,
// or none. The flow is: the stored points (store/run_score.hpp) -> here -> the end of a run, show, compare
// and reports.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "analysis/candidates.hpp"
#include "store/store.hpp"

namespace encore::analysis {

/// Returns a clause without a full stop for each run: `dev/bleu is 0.00 at all 28 evaluations, so it cannot
/// choose a checkpoint: ...`. A run whose metric moved or has a single defined value has no notice.
std::map<std::int64_t, std::string> selection_notices(store::Store& store,
                                                      const std::vector<store::RunRow>& runs);

/// Adds one notice for each candidate with such runs, with its name in front.
void note_selection(store::Store& store, const std::vector<Candidate>& candidates,
                    std::vector<std::string>& notices);

/// Returns how a run's checkpoint was chosen among equal scores: "the earliest", or by the loss if all runs
/// record that.
std::string ties_text(const std::vector<store::RunRow>& runs);

}  // namespace encore::analysis
