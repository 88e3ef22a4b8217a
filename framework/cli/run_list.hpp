// SPDX-License-Identifier: BSD-3-Clause
// Prints lists of runs (app/ls.hpp) with their scores as a table, CSV and JSON. ls_verb.cpp and db_merge.cpp
// call it.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "app/ls.hpp"
#include "cli/terminal.hpp"

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

}  // namespace encore::cli
