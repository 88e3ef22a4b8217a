// Lineage: runs that retrain one another, and which of them stands for all. A run names the one that it is to
// replace by the setting train.retrains; what came of it is an event of its own; the one that was promoted
// has a tag. Place in the flow: `exp retrain` writes it, selection.hpp (--promoted), `exp show` and reports
// read it.
#pragma once

#include <optional>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "store/store.hpp"

namespace encore {

/// On the one run of a lineage that was promoted last.
inline constexpr const char* promoted_tag = "promoted";

/// The run that this one is to replace, if it is there; removed ones too.
std::optional<RunRow> retrained_by(Store& store, const RunRow& run);
/// The runs in sight that are to replace this one or each other, back to the first of them, oldest first; of
/// a run that was never retrained itself alone.
std::vector<RunRow> lineage_of(Store& store, const RunRow& run);
/// The run that stands for the lineage: the one that was promoted, else `run` itself.
RunRow promoted_of(Store& store, const RunRow& run);
/// The same of each, each once.
std::vector<RunRow> promoted_of(Store& store, const std::vector<RunRow>& runs);

/// What retraining came to (analysis/retraining.hpp); null where nothing is recorded.
nlohmann::json read_retraining(Store& store, const RunRow& run);
/// Records it in place of what was, and puts the tag where it belongs, in one transaction: on the run where
/// it is `promoted`; else a tag that the run has goes back to the run that it retrains. Throws Error where
/// the run has no attempt.
void record_retraining(Store& store, const RunRow& run, const nlohmann::json& body, bool promoted);

}  // namespace encore
