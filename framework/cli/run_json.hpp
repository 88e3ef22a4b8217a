// A run as JSON with everything the database knows: what `exp show --json` prints and `exp dump --json`
// writes.
#pragma once

#include <nlohmann/json.hpp>

#include "store/store.hpp"

namespace encore {

/// What names a run and says how it stands: the members with which every list of runs begins.
nlohmann::ordered_json run_head_json(const RunRow& run);

/// Settings with their origin, every point that counts, attempts, checkpoints, artifacts. Numbers that are
/// not finite become null.
nlohmann::ordered_json run_json(Store& store, const RunRow& run);

}  // namespace encore
