// How lists of runs are written: as a table, CSV and JSON, and the scores in them.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "app/ls.hpp"
#include "cli/terminal.hpp"

namespace encore {

/// "DEV F1" where all of them choose checkpoints by one measure, else "DEV"; `split` is "dev" or "test".
std::string score_title(const std::vector<RunScore>& scores, const std::string& split);
/// "91.18" under a title that names the measure, else "91.18 F1"; "-" without a value.
std::string score_text(const RunScore& score, std::optional<double> value, const std::string& title);

/// `store`: what schedulers say of jobs.
void print_table(std::ostream& out, const Terminal& terminal, Store& store, const RunList& list);
void print_csv(std::ostream& out, const RunList& list);
void print_json(std::ostream& out, const RunList& list);
/// {"select": "max dev/f1", "best": ..., "latest": ...}
nlohmann::ordered_json score_json(const RunScore& score);

}  // namespace encore
