// SPDX-License-Identifier: BSD-3-Clause
// SearchPlan: a checked experiment file with [search], and its trials as runs. It corresponds to Plan
// (plan.hpp) of a sweep, except that each point is chosen after the results of earlier ones. Place in the
// flow: `exp plan` and `exp run` make one; app/search_session.cpp trains its trials. The identity decides
// which stored search continues, so what it is computed from does not change. Read next: search.hpp,
// decide.hpp.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "plan/point_maker.hpp"
#include "plan/search/search.hpp"
#include "pretrained/content_hash.hpp"

namespace encore::plan::search {

/// The runs of a trial, one for each seed.
struct TrialRuns {
  std::vector<RunPoint> runs;  ///< empty if `problem` says why there are none
  std::vector<bool> active;    ///< by variable: whether the conditions leave it in the trial
  std::string problem = {};
  bool excluded = false;  ///< a condition of "exclude" removes the trial; this is not a failure
};

class SearchPlan {
 public:
  /// Throws ConfigErrors with everything that is wrong. Document, catalogue and parents outlive the plan.
  SearchPlan(const config::ExperimentFile& document, const config::Catalogue& catalogue,
             const ContentHash& hash = pretrained::sha256_of_content, ParentSource* parents = nullptr);
  SearchPlan(const SearchPlan&) = delete;
  SearchPlan& operator=(const SearchPlan&) = delete;

  const PlanHeader& header() const { return header_; }
  const Search& search() const { return search_; }
  /// Returns how every run chooses its checkpoint: "max dev/f1".
  const std::string& select() const { return select_; }
  /// Returns the identity of the search: SHA-256 of its settings, its space, the seeds, and the number and
  /// the settings of the first trial that can be trained.
  const std::string& identity() const { return identity_; }
  /// Makes the runs of a trial, one for each seed of the experiment.
  TrialRuns make(const Point& point);
  /// Makes runs with seeds that no trial has: those that follow the highest seed of the experiment.
  TrialRuns make_fresh(const Point& point, std::int64_t seeds);

 private:
  TrialRuns make(const Point& point, const std::vector<std::int64_t>& seeds);
  /// Makes the first trials until one can be trained, and computes the identity from it. Adds the problems of
  /// the first trial if none can.
  void look_at_first_trials(config::Problems& problems);
  /// Reads from the settings of a run how its checkpoint is chosen, the objective, and the length of a trial.
  void read_length(const RunPoint& run, config::Problems& problems);
  /// Checks the steps or epochs at which trials are pruned, and sets their defaults.
  void read_rungs(const nlohmann::json& train, config::Problems& problems);

  const config::ExperimentFile& document_;
  PlanHeader header_;
  Search search_;
  std::optional<PointMaker> maker_;
  std::string select_;
  std::string identity_;
};

/// Returns what a trial sets, for users: "learning_rate=0.001  dropout=0.1".
std::string text_of(const std::vector<RandomVariable>& space, const Trial& trial);
/// Returns the value of one variable, for users.
std::string value_text(const RandomVariable& variable, double coordinate);

}  // namespace encore::plan::search
