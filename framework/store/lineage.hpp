// SPDX-License-Identifier: BSD-3-Clause
// Queries about a lineage: the set of runs that retrain one another, of which one, the promoted run,
// represents all. The setting train.retrains of a run, app.retrains of an application, names the run that it
// replaces. The result of the comparison is stored as an event, and the promoted run has a tag; both names
// are stored and do not change. `exp retrain` writes both; selection.hpp (--promoted), `exp show` and reports
// read them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "store/store.hpp"

namespace encore::store {

/// The tag of the last promoted run of a lineage.
inline constexpr const char* promoted_tag = "promoted";

/// Returns the key of the setting with the id of the run that this one replaces.
std::string retrains_key(const RunRow& run);
/// Returns the run that this one replaces, also if it was removed. Returns nothing if there is none.
std::optional<RunRow> retrained_by(Store& store, const RunRow& run);
/// Returns the present runs of the lineage, oldest first. Returns only the run itself if it was never
/// retrained.
std::vector<RunRow> lineage_of(Store& store, const RunRow& run);
/// Returns the run that stands for the lineage: the promoted one, else `run` itself.
RunRow promoted_of(Store& store, const RunRow& run);
/// Returns the promoted runs of several runs, each once.
std::vector<RunRow> promoted_of(Store& store, const std::vector<RunRow>& runs);

/// Returns the result of retraining (analysis/retraining.hpp), or null if none is recorded.
nlohmann::json read_retraining(Store& store, const RunRow& run);
/// Records the result in place of an earlier one and moves the tag, in one transaction. If `promoted`, the
/// run gets the tag. Otherwise, a tag that the run has goes back to the run that it retrains. Throws Error if
/// the run has no attempt.
void record_retraining(Store& store, const RunRow& run, const nlohmann::json& body, bool promoted);

}  // namespace encore::store
