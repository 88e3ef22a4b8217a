// Searches: their rows, and what a search must know of the runs of its trials. Everything about a trial is
// written in one transaction with the decision or the observation that it belongs to, so that a search that
// was killed finds itself whole. plan/search/history.hpp says what is kept, schema.sql how.
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

/// A trial as rows tell it.
struct TrialRow {
  std::string problem;                           ///< why no run could be made of it
  std::vector<std::int64_t> runs;                ///< numbers, by seed; those that were purged are not there
  std::vector<std::int64_t> confirmations = {};  ///< the same with fresh seeds
  bool excluded = false;                         ///< "exclude" of [search] takes it out
};

/// An observation with what only people want to know.
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
/// By name.
std::optional<SearchRow> find_search_called(Store& store, const std::string& name);
/// Newest first.
std::vector<SearchRow> list_searches(Store& store);
/// Gives the row its number and a free name.
void add_search(Store& store, SearchRow& row);

/// Numbers of all runs that some search has proposed, or trained again with fresh seeds.
std::set<std::int64_t> runs_of_searches(Store& store);
/// Of these runs: the search that chose a setting by the run's score. Empty for fresh seeds, which only
/// confirm.
std::map<std::int64_t, std::string> choosers_of_runs(Store& store);

/// Within a Snapshot of the caller, while others may write. Throws Error where the rows contradict each other
/// so that nothing can be recomputed from them.
SearchRecord read_search(Store& store, const SearchRow& row);

/// A proposal with its trial and the runs of that; a confirmation with its runs; any other decision alone.
void add_decision(Store& store, std::int64_t search, const SearchRecord& record,
                  const search::Decision& decision, const search::Trial& trial = {},
                  const TrialRow& row = {});
void add_observation(Store& store, std::int64_t search, const SearchRecord& record,
                     const search::Observation& observation, const std::string& reason);

/// The trial of this search that has the run, if there is one.
std::optional<std::size_t> trial_of(const SearchRecord& record, std::int64_t run);
/// Of a metric at the evaluation up to `step` that `select` ("max dev/f1") finds best, equals decided by the
/// loss (record/best_checkpoint.hpp): what the run would answer if it ended there. NaN where there is none.
double value_at(Store& store, std::int64_t run, const std::string& select, const std::string& metric,
                std::int64_t step);
/// Of all attempts at these runs, in seconds.
double seconds_of(Store& store, const std::vector<std::int64_t>& runs);

}  // namespace encore
