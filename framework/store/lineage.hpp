// SPDX-License-Identifier: BSD-3-Clause
// Lineage is the set of runs that retrain one another, one of which stands for all. The setting
// train.retrains of a run names the run to replace; the result is an event of its own; the promoted run has a
// tag. `exp retrain` writes it; selection.hpp (--promoted), `exp show` and reports read it.
// read it.
#pragma once

#include <optional>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "store/store.hpp"

namespace encore {

/// The tag of the run of a lineage that was promoted last.
inline constexpr const char* promoted_tag = "promoted";

/// Returns the run that this one replaces, if it exists; removed ones too.
std::optional<RunRow> retrained_by(Store& store, const RunRow& run);
/// Returns the present runs that replace this one or each other, back to the first of them, oldest first.
/// Returns only the run itself if it was never retrained.
std::vector<RunRow> lineage_of(Store& store, const RunRow& run);
/// Returns the run that stands for the lineage: the promoted one, else `run` itself.
RunRow promoted_of(Store& store, const RunRow& run);
/// Returns the promoted runs of several runs, each once.
std::vector<RunRow> promoted_of(Store& store, const std::vector<RunRow>& runs);

/// Returns the result of retraining (analysis/retraining.hpp), or null if none is recorded.
nlohmann::json read_retraining(Store& store, const RunRow& run);
/// Records the result in place of an earlier one, and moves the tag, in one transaction: to the run if it is
/// `promoted`; otherwise a tag of the run goes back to the run that it retrains. Throws Error if the run has
/// no attempt.
void record_retraining(Store& store, const RunRow& run, const nlohmann::json& body, bool promoted);

}  // namespace encore
