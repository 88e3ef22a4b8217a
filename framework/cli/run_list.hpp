// RunList: runs as `ls` shows them: scores, so far where a run still trains, time spent, and a column for
// each option that varies among them; as a table, CSV and JSON.
#pragma once

#include <iosfwd>
#include <map>
#include <string>
#include <vector>

#include "cli/terminal.hpp"
#include "store/run_score.hpp"
#include "store/store.hpp"

namespace encore {

/// A column beside those that every list has.
struct ListColumn {
  std::string name;    ///< "model.dropout", as conditions name it
  std::string title;   ///< "DROPOUT"
  Metric metric = {};  ///< of a measure what it means; without a name elsewhere
  std::map<std::int64_t, nlohmann::json> values = {};  ///< by number of the run; null or absent: none
};

struct RunList {
  std::vector<RunRow> runs;
  std::vector<RunScore> scores;  ///< of each
  std::vector<double> seconds;   ///< in which an attempt worked on it
  std::vector<ListColumn> columns = {};
};

RunList make_run_list(Store& store, std::vector<RunRow> runs);
/// One column for each option that is not the same in all of them, the seed too; options that always change
/// together share one.
std::vector<ListColumn> varied_columns(Store& store, const std::vector<RunRow>& runs);
/// One that store/run_columns.hpp knows. Throws UsageError that names `option`, "--sort".
ListColumn named_column(Store& store, const std::vector<RunRow>& runs, const std::string& option,
                        const std::string& name);
/// By a column: measures from the best value on, everything else rising; runs without a value come last.
void sort_by(const ListColumn& column, bool reverse, std::vector<RunRow>& runs);

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
