// What must be known of a run whose metric chose nothing: it had one value at every evaluation, or none.
// Place in the flow: the stored points (store/run_score.hpp) -> here -> the end of a run, show, compare and
// reports.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "analysis/candidates.hpp"
#include "store/store.hpp"

namespace encore {

/// By run, a clause without its final stop: `dev/bleu is 0.00 at all 28 evaluations, so it cannot choose a
/// checkpoint: ...`. Runs whose metric moved, and those with a single defined value, have no notice.
std::map<std::int64_t, std::string> selection_notices(Store& store, const std::vector<RunRow>& runs);

/// One notice for each candidate that has such runs, with its name in front.
void note_selection(Store& store, const std::vector<Candidate>& candidates,
                    std::vector<std::string>& notices);

/// How a run's checkpoint was chosen among equal scores: "the earliest", or by the loss where all of them say
/// so.
std::string ties_text(const std::vector<RunRow>& runs);

}  // namespace encore
