// A run as JSON with everything the database knows: what `exp show --json` prints and `exp dump --json`
// writes.
#pragma once

#include <nlohmann/json.hpp>

#include "store/store.hpp"

namespace encore {

/// Settings with their origin, every point that counts, attempts, checkpoints, artifacts. Numbers that are
/// not finite become null.
nlohmann::ordered_json run_json(Store& store, const RunRow& run);

}  // namespace encore
