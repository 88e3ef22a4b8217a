// SPDX-License-Identifier: BSD-3-Clause
// The rows of searches (experiment files with [search]): stores each decision and observation of a search,
// and reads what it must know of the runs of its trials. app/search_session.cpp calls it. Everything about a
// trial is written in one transaction with its decision or observation, so that a killed search finds a
// consistent state. Decisions are only added, never changed, because `exp verify` computes them again. Read
// next: plan/search/history.hpp (what is stored), schema.sql (how).
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

namespace encore::store {

struct SearchRow {
  std::int64_t number = 0;
  std::string name, identity, backend;  ///< identity: SHA-256 of settings, space and experiment
  nlohmann::json settings, space;       ///< as settings_json() and space_json() of plan/search/search.hpp
  double created = 0.0;                 ///< in seconds since 1970
  std::int64_t sweep = 0;               ///< row number of its experiment file
};

/// A trial (one choice of settings) as its rows describe it.
struct TrialRow {
  std::string problem;                           ///< why no run could be made of it; empty: runs were made
  std::vector<std::int64_t> runs;                ///< row numbers, by seed; purged runs are missing
  std::vector<std::int64_t> confirmations = {};  ///< row numbers of its runs with fresh seeds
  bool excluded = false;                         ///< "exclude" of [search] removed it from the space
};

/// The parts of an observation that only users read.
struct ObservationNote {
  std::string reason;
  double time = 0.0;
};

struct SearchRecord {
  plan::search::History history;
  std::vector<TrialRow> trials;        ///< by number
  std::vector<ObservationNote> notes;  ///< by observation
  std::vector<double> decided;         ///< time of each decision
};

std::optional<SearchRow> find_search(Store& store, const std::string& identity, const std::string& backend);
/// Finds the search with this name.
std::optional<SearchRow> find_search_called(Store& store, const std::string& name);
/// Returns the searches, newest first.
std::vector<SearchRow> list_searches(Store& store);
/// Stores the search, and sets the number and a free name in `row`.
void add_search(Store& store, SearchRow& row);

/// Returns the row numbers of all runs that a search has proposed, or trained again with fresh seeds.
std::set<std::int64_t> runs_of_searches(Store& store);
/// Returns the name of the search for each of these runs whose score decided about a setting. Runs with fresh
/// seeds have no entry, because they only confirm.
std::map<std::int64_t, std::string> choosers_of_runs(Store& store);

/// Reads a whole search. Call it within a Snapshot if other processes may write. Throws Error if the rows
/// contradict each other, so that the search cannot be computed again from them.
SearchRecord read_search(Store& store, const SearchRow& row);

/// Adds the last decision of `record`: a proposal with its trial and runs, a confirmation with its runs, or
/// another decision alone.
void add_decision(Store& store, std::int64_t search, const SearchRecord& record,
                  const plan::search::Decision& decision, const plan::search::Trial& trial = {},
                  const TrialRow& row = {});
/// Adds the last observation of `record`. `reason` is a sentence for users.
void add_observation(Store& store, std::int64_t search, const SearchRecord& record,
                     const plan::search::Observation& observation, const std::string& reason);

/// Returns the trial of this search that has the run, if there is one.
std::optional<std::size_t> trial_of(const SearchRecord& record, std::int64_t run);
/// Returns a metric at the best evaluation up to `step`, as `select` ("max dev/f1") ranks evaluations; the
/// loss decides ties (record/best_checkpoint.hpp). NaN if there is none. So a run can be compared as if it
/// had ended at `step`.
double value_at(Store& store, std::int64_t run, const std::string& select, const std::string& metric,
                std::int64_t step);
/// Returns the duration of all attempts at these runs, in seconds.
double seconds_of(Store& store, const std::vector<std::int64_t>& runs);

}  // namespace encore::store
