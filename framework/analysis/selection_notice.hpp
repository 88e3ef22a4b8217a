// SPDX-License-Identifier: BSD-3-Clause
// Words a notice for a run whose metric could not choose a checkpoint: it had one value at every evaluation,
// or none. It is derived from the stored points (store/run_score.hpp). The end of a run, `exp show`, `exp
// compare` and reports call it and print the text.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "analysis/candidates.hpp"
#include "store/store.hpp"

namespace encore::analysis {

/// Returns a clause without a full stop for each run: `dev/bleu is 0.00 at all 28 evaluations, so it cannot
/// choose a checkpoint: ...`. A run whose metric changed, or has only one value that is a number, has no
/// notice. By number of the run.
std::map<std::int64_t, std::string> selection_notices(store::Store& store,
                                                      const std::vector<store::RunRow>& runs);

/// Adds one notice for each candidate with such runs, with its name in front.
void note_selection(store::Store& store, const std::vector<Candidate>& candidates,
                    std::vector<std::string>& notices);

/// Returns how a run's checkpoint was chosen among equal scores: "the earliest", or by the loss if all runs
/// record that.
std::string ties_text(const std::vector<store::RunRow>& runs);

}  // namespace encore::analysis
