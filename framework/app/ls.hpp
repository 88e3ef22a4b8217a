// SPDX-License-Identifier: BSD-3-Clause
// list_runs(): the runs with their scores, the newest first or sorted by a column, for `exp ls`.
// cli/ls_verb.cpp calls it and cli/run_list.cpp prints the list; cli/bundle_text.cpp uses varied_columns() to
// show in which options the runs of a bundle differ. It only reads. Names of columns are those that
// conditions (--where) and CSV use, so they never change; titles may.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "app/run_selection.hpp"
#include "store/run_score.hpp"

namespace encore::app {

struct LsRequest {
  SelectionRequest selection = {};
  std::optional<std::string> sort = {};  ///< name of a column; not given: the newest first
  bool reverse = false;
  std::vector<std::string> columns = {};  ///< shown beside those that every list has
  bool varied = false;                    ///< also show the options in which the runs differ
  std::optional<std::string> name = {};   ///< a shell pattern
  bool removed = false;                   ///< the runs that `exp rm` has hidden
  std::optional<int> number = {};         ///< 0: all; not written: 100, of an answer for programs all
  bool all = false;                       ///< short for number = 0
  bool search = false;                    ///< the searches instead of the runs
  bool json = false, csv = false;
};

Form<LsRequest> ls_form();

/// A column beside those that every list has.
struct ListColumn {
  std::string name;    ///< "model.dropout", as conditions name it
  std::string title;   ///< "dropout": as short as it can be and still differ from the others
  Metric metric = {};  ///< of a measure what it means; without a name elsewhere
  std::map<std::int64_t, nlohmann::json> values = {};  ///< by number of the run; null or absent: none
};

struct RunList {
  std::vector<store::RunRow> runs;
  std::vector<store::RunScore> scores;  ///< of each
  std::vector<double> seconds;          ///< in which an attempt worked on it
  std::vector<ListColumn> columns = {};
};

struct LsResult {
  RunList list;
  bool complete = true;                      ///< there are no more runs than listed
  std::optional<std::int64_t> present = {};  ///< how many there are, where nothing was chosen among them
  std::string why_empty = {};                ///< the reason if no run is listed
};

/// Returns the list. Throws UsageError for a column that no run has.
LsResult list_runs(const LsRequest& request, store::Store& store);

/// Returns one column for each option that differs between the runs, the seed too. Options that always change
/// together share one.
std::vector<ListColumn> varied_columns(store::Store& store, const std::vector<store::RunRow>& runs);
/// Returns the value of the measure that chooses the run's checkpoints, on "dev" or "test".
std::optional<double> selected_value(const std::string& split, const store::RunRow& run,
                                     const store::RunScore& score);
/// Returns the value of a column of one run; null if it has none.
nlohmann::json value_of(const ListColumn& column, const store::RunRow& run);

}  // namespace encore::app
