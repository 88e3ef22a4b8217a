// SPDX-License-Identifier: BSD-3-Clause
// A candidate is the runs of one question (settings and data, without the seed) on one backend, with their
// values and numeric environments. Its runs differ only in the seed and are called replicates.
// comparison.cpp and report/against.cpp call candidates_of(); pooling.hpp decides which runs make one
// candidate. The rules which run counts decide every mean that users see. Read next: comparison.hpp, which
// compares candidates.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analysis/statistics.hpp"
#include "store/store.hpp"

namespace encore::analysis {

struct CandidateOptions {
  Metric metric;  ///< "test/f1"
  bool by_run;    ///< each run is a candidate of its own
  bool pool;      ///< runs from different plugin files and numeric environments too
  double alpha;   ///< intervals cover 1 - alpha
};

/// One run of a candidate, with its value of the metric or the reason why it has none.
struct Replicate {
  store::RunRow run;
  std::optional<double> value = {};
  std::string missing;                            ///< the reason why it has no value; empty if it has one
  std::vector<nlohmann::json> environments = {};  ///< numeric, of its attempts
  bool is_chosen = false;  ///< a search chose the setting by this seed, so only its fresh seeds count
};

struct Candidate {
  std::string name;  ///< the common part of the names of its runs
  std::string group, backend;
  std::vector<Replicate> runs = {};                ///< sorted by seed, with those that have no value
  std::vector<double> values = {};                 ///< of the runs that have one, by seed
  double mean = 0.0;                               ///< NaN without values
  double deviation = 0.0;                          ///< of the sample; NaN with fewer than two
  std::optional<Interval> t = {}, bootstrap = {};  ///< of the mean
};

/// Throws Error, with the nearest name that exists, if no run has the metric.
void require_metric(store::Store& store, const std::vector<store::RunRow>& runs, const std::string& metric);

/// Returns the candidates in the order of the runs. Of repeats (trainings of one question with one seed) only
/// the newest complete one counts. Adds to `notices` sentences about repeats, and about candidates that
/// differ only in plugin files or numeric environments. Where a search trained fresh seeds of a setting, the
/// seeds whose scores chose it do not count, because their mean is too good.
std::vector<Candidate> candidates_of(store::Store& store, const std::vector<store::RunRow>& runs,
                                     const CandidateOptions& options, std::vector<std::string>& notices);

/// Adds notices about candidates with runs from several numeric environments, and about those with another
/// environment than the first candidate.
void note_environments(const std::vector<Candidate>& candidates, std::vector<std::string>& notices);

/// Returns the values of all complete runs of a candidate that count and have the measure, such as "test/f1".
std::vector<double> values_of(const Candidate& candidate, const std::string& measure);

}  // namespace encore::analysis
