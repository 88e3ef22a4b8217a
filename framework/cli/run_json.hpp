// A run as JSON with everything the database knows: what `exp show --json` prints and `exp dump --json`
// writes.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "store/store.hpp"

namespace encore {

/// What names a run and says how it stands: the members with which every list of runs begins.
nlohmann::ordered_json run_head_json(const RunRow& run);

/// Settings with their origin, every point that counts, attempts, checkpoints, artifacts. Numbers that are
/// not finite become null.
nlohmann::ordered_json run_json(Store& store, const RunRow& run);

/// A list of these, run by run, so that a large database needs no memory for all of it.
void write_runs_json(Store& store, const std::vector<RunRow>& runs,
                     const std::function<void(const std::string&)>& write);

}  // namespace encore
