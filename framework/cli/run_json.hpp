// SPDX-License-Identifier: BSD-3-Clause
// A run as JSON with all facts of the database, for `exp show --json`, `exp dump --json` and lists of runs.
// Programs read the names of the members, so they never change.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "store/store.hpp"

namespace encore::cli {

/// Returns the names and the state of a run: the first members in every list of runs.
nlohmann::ordered_json run_head_json(const store::RunRow& run);

/// Returns settings with their origin, all current points, attempts, checkpoints and artifacts. Numbers that
/// are not finite become null.
nlohmann::ordered_json run_json(store::Store& store, const store::RunRow& run);

/// Writes a list of runs, one at a time, so that a large database does not need much memory.
void write_runs_json(store::Store& store, const std::vector<store::RunRow>& runs,
                     const std::function<void(const std::string&)>& write);

}  // namespace encore::cli
