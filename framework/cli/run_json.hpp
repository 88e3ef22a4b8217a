// SPDX-License-Identifier: BSD-3-Clause
// run_json(): a run as JSON with all facts of the database, for `exp show --json` and `exp dump --json`;
// run_head_json(): its first members, for the lists of runs of other verbs. Programs read the names of the
// members, so they never change; new members may be added.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "store/store.hpp"

namespace encore::cli {

/// Returns the names and the state of a run: the first members in every list of runs, so that programs can
/// read all lists alike.
nlohmann::ordered_json run_head_json(const store::RunRow& run);

/// Returns settings with their origin, all current points, attempts, checkpoints and artifacts. `run` is a
/// row of `store`. Numbers that are not finite become null, because JSON has none.
nlohmann::ordered_json run_json(store::Store& store, const store::RunRow& run);

/// Writes a list of runs, one at a time, so that a large database does not need much memory. `write` receives
/// parts of the text in their order.
void write_runs_json(store::Store& store, const std::vector<store::RunRow>& runs,
                     const std::function<void(const std::string&)>& write);

}  // namespace encore::cli
