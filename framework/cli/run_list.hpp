// SPDX-License-Identifier: BSD-3-Clause
// Prints lists of runs (app/ls.hpp) with their scores as a table, CSV and JSON, for ls_verb.cpp;
// score_text(), score_title() and state_cell() format scores and states for the tables of all verbs
// (status_verb.cpp, run_summary.cpp, bundle_text.cpp, show_text.cpp). CSV columns and JSON members are read
// by programs and keep their names.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "app/ls.hpp"
#include "cli/table.hpp"
#include "cli/terminal.hpp"
#include "runner/launched_runs.hpp"
#include "store/store.hpp"

namespace encore::cli {

/// Returns "DEV F1" if all runs choose checkpoints by one measure, else "DEV"; `split` is "dev" or "test".
std::string score_title(const std::vector<store::RunScore>& scores, const std::string& split);
/// Returns "91.18" under a title that names the measure, else "91.18 F1"; "-" without a value.
std::string score_text(const store::RunScore& score, std::optional<double> value, const std::string& title);

/// Prints the list as a table. `store` has the schedulers' notes about jobs.
void print_table(std::ostream& out, const Terminal& terminal, store::Store& store, const app::RunList& list);
void print_csv(std::ostream& out, const app::RunList& list);
void print_json(std::ostream& out, const app::RunList& list);
/// Returns {"select": "max dev/f1", "best": ..., "latest": ...}.
nlohmann::ordered_json score_json(const store::RunScore& score);

/// Returns the state with its colour. All tables of runs use it, so that a state looks the same everywhere.
Cell state_cell(store::RunState state);
/// Returns the state of a run, which is "queued" while a scheduler's job waits to start it.
Cell state_cell(store::RunState state, const std::optional<runner::SchedulerNote>& note);

}  // namespace encore::cli
