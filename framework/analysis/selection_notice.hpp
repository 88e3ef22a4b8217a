// SPDX-License-Identifier: BSD-3-Clause
// Returns notices for runs whose metric could not choose a checkpoint, because it had one value at every
// evaluation, or none. They are derived from the stored points (store/run_score.hpp) at each call. The end
// of a run, `exp show`, `exp compare` and reports call it and print the text. Nothing of it is stored, so
// the text may change.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "analysis/candidates.hpp"
#include "store/store.hpp"

namespace encore::analysis {

/// Returns the notices of those runs that have one, by the number of the run. A notice is a clause without a
/// full stop: `dev/bleu is 0.00 at all 28 evaluations, so it cannot choose a checkpoint; ...`. A run has
/// none if its metric varied, or if its only evaluation gave a number.
std::map<std::int64_t, std::string> selection_notices(store::Store& store,
                                                      const std::vector<store::RunRow>& runs);

/// Adds a notice for each candidate that has a run with a notice; it begins with the name of the candidate.
void note_selection(store::Store& store, const std::vector<Candidate>& candidates,
                    std::vector<std::string>& notices);

/// Returns how these runs break ties between equal scores, for a sentence: "the earliest of equals", or "of
/// equals that with the lowest dev/loss, then the latest", with a remark if only some of them do so.
std::string ties_text(const std::vector<store::RunRow>& runs);

}  // namespace encore::analysis
