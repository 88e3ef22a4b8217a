// SPDX-License-Identifier: BSD-3-Clause
// ReportData is the data of a report, read once with a fixed number of queries. A Question is a group of
// candidates that are compared on the same data. Place in the flow: report.cpp reads it through
// read_report_data(), questions.cpp groups the runs, and the sections (sections.hpp) only read it. A section
// that queries the database for each run would make reports of many runs slow.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "analysis/comparison.hpp"
#include "analysis/factors.hpp"
#include "report/candidate_key.hpp"
#include "report/report.hpp"
#include "store/run_batch.hpp"
#include "store/run_score.hpp"

namespace encore::report {

/// A comparison: the candidates that were scored on the same data, by one metric.
struct Question {
  std::string id;                              ///< "test-f1", "test-f1-2"; part of the ids of its tables
  std::string title;                           ///< "test/f1 on wnut17/test.conll"
  std::vector<store::RunRow> runs = {};        ///< in the order of the report
  store::Metrics metrics = {};                 ///< of these runs
  std::vector<analysis::Factor> factors = {};  ///< in which these runs differ, without the seed
  analysis::Comparison comparison = {};
  CandidateKey key = {};                ///< the letters of the candidates
  std::vector<std::string> names = {};  ///< names of the candidates without their common parts
  /// The parts that `names` leave out at the beginning and at the end.
  std::string before = {}, behind = {};
  std::vector<std::size_t> order =
      {};  ///< candidates from the best mean to the worst, those without one last
  /// The metric by which the candidates are compared.
  const Metric& metric() const { return comparison.options.metric; }
  const std::string& letter(std::size_t candidate) const { return key.letters[candidate]; }
  std::size_t scored() const;  ///< number of candidates with a value; they come first in `order`
  std::optional<std::size_t> first() const;  ///< the candidate with the best mean, if any has one
  bool best(std::size_t candidate) const;  ///< whether the tests distinguish it from every other as the best
};

struct ReportData {
  store::Store& store;
  ReportOptions options;
  std::string subject;              ///< "run a", "sweep b", "all runs"
  store::Metrics metrics;           ///< of the runs, with their meaning in these runs
  std::string select;               ///< the choice of checkpoints: "max dev/f1"; empty if runs differ in it
  std::vector<store::RunRow> runs;  ///< by name, numbers in it by value
  store::RunBatch::ByRun<store::ParamRow> params;
  store::RunBatch::ByRun<store::DatasetRow> datasets;
  store::RunBatch::ByRun<store::AttemptRow> attempts;
  store::RunBatch::ByRun<store::ArtifactRow> artifacts;
  store::RunBatch::ByRun<store::VerificationRow> verifications;
  std::vector<store::SweepRow> sweeps;
  std::size_t beside = 0;                 ///< runs of these sweeps that are not in the report
  std::vector<analysis::Factor> factors;  ///< without the seed
  std::vector<Question> questions;
  std::set<std::int64_t> searched;  ///< runs that a search has proposed, or trained again

  /// Returns the names of the metrics of the questions, each once.
  std::vector<std::string> metric_names() const;
  /// Return whether all runs of the question, or any of them, are those of searches.
  bool all_searched(const Question& question) const;
  bool any_searched(const Question& question) const;
  /// Returns the last attempt of the run whose worker reported its start; null if none did.
  const store::AttemptRow* told(const store::RunRow& run) const;
  /// Returns the report of the start of that attempt; null if there is none.
  const record::Started* started(const store::RunRow& run) const;
  /// Returns the worker's report about one of the run's data sets ("train"); null if no attempt reported it.
  const record::SetFacts* facts(const store::RunRow& run, const std::string& role) const;
  /// Returns a setting's value; null if the run does not have the setting.
  nlohmann::json setting(const store::RunRow& run, const std::string& key) const;
  /// Returns whether a section must not show examples of the question's data: a run forbids it, and the user
  /// did not name the section.
  bool hides_texts(const Question& question, const std::string& section) const;
  /// Returns a caption about a question, which begins with the question's title if the report has several
  /// questions.
  std::string caption_of(const Question& question, const std::string& text) const;
  /// Returns the number of rows that a table of `all` rows shows.
  std::size_t rows_of(std::size_t all) const;
  /// Returns whether the report is for programs (CSV, JSON), so that tables have every row and number.
  bool complete() const { return options.most_rows == 0; }
};

/// Returns the groups of the runs by the data they were scored on. The metric of each group is the one that
/// the options name, else the metric by which its runs choose their checkpoints. `data` has its runs,
/// settings and data sets.
std::vector<Question> questions_of(const ReportData& data);

/// Reads everything that the sections need about these runs.
ReportData read_report_data(store::Store& store, const std::vector<store::RunRow>& runs,
                            const std::string& subject, const ReportOptions& options);

}  // namespace encore::report
