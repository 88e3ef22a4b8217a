// SPDX-License-Identifier: BSD-3-Clause
// Stores searches and reads what a search needs to know of the runs of its trials. Everything about a trial
// is written in one transaction with its decision or observation, so that a killed search finds a consistent
// state. plan/search/history.hpp says what is kept, schema.sql how.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "plan/search/history.hpp"
#include "store/store.hpp"

namespace encore {

struct SearchRow {
  std::int64_t number = 0;
  std::string name, identity, backend;
  nlohmann::json settings, space;
  double created = 0.0;
  std::int64_t sweep = 0;
};

/// A trial as its rows describe it.
struct TrialRow {
  std::string problem;                           ///< why no run could be made of it
  std::vector<std::int64_t> runs;                ///< numbers, by seed; purged runs are missing
  std::vector<std::int64_t> confirmations = {};  ///< the same with fresh seeds
  bool excluded = false;                         ///< "exclude" of [search] takes it out
};

/// An observation with details that only users need.
struct ObservationNote {
  std::string reason;
  double time = 0.0;
};

struct SearchRecord {
  search::History history;
  std::vector<TrialRow> trials;        ///< by number
  std::vector<ObservationNote> notes;  ///< by observation
  std::vector<double> decided;         ///< by decision: when
};

std::optional<SearchRow> find_search(Store& store, const std::string& identity, const std::string& backend);
/// Finds the search with this name.
std::optional<SearchRow> find_search_called(Store& store, const std::string& name);
/// Returns the searches, newest first.
std::vector<SearchRow> list_searches(Store& store);
/// Gives the row its number and a free name.
void add_search(Store& store, SearchRow& row);

/// Returns the numbers of all runs that a search has proposed, or trained again with fresh seeds.
std::set<std::int64_t> runs_of_searches(Store& store);
/// Returns, for each of these runs, the search that chose a setting by its score. It is empty for fresh
/// seeds, which only confirm.
std::map<std::int64_t, std::string> choosers_of_runs(Store& store);

/// Call it within a Snapshot, while other processes may write. Throws Error if the rows contradict each other
/// so that nothing can be recomputed from them.
SearchRecord read_search(Store& store, const SearchRow& row);

/// Adds a proposal with its trial and runs, a confirmation with its runs, or another decision alone.
void add_decision(Store& store, std::int64_t search, const SearchRecord& record,
                  const search::Decision& decision, const search::Trial& trial = {},
                  const TrialRow& row = {});
void add_observation(Store& store, std::int64_t search, const SearchRecord& record,
                     const search::Observation& observation, const std::string& reason);

/// Returns the trial of this search that has the run, if there is one.
std::optional<std::size_t> trial_of(const SearchRecord& record, std::int64_t run);
/// Returns a metric at the evaluation up to `step` that `select` ("max dev/f1") finds best, as if the run
/// ended there; the loss decides ties (record/best_checkpoint.hpp). NaN if there is none.
double value_at(Store& store, std::int64_t run, const std::string& select, const std::string& metric,
                std::int64_t step);
/// Returns the seconds of all attempts at these runs.
double seconds_of(Store& store, const std::vector<std::int64_t>& runs);

}  // namespace encore
