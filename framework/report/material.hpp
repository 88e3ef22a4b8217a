// Material: all that a report is written from, read once with a fixed number of queries. Place in the flow:
// report.cpp gathers it, the sections (sections.hpp) only read it.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "report/comparison.hpp"
#include "report/report.hpp"
#include "store/run_batch.hpp"
#include "store/run_score.hpp"

namespace encore {

/// A setting that is not the same in all runs, or several that always change together.
struct Factor {
  std::string name;                    ///< of the setting that names it best: "model.layers"
  std::vector<std::string> keys;       ///< all of them, sorted
  std::vector<nlohmann::json> levels;  ///< its values, sorted; null: the runs that have no such setting
  std::vector<std::size_t> level;      ///< of each run of the material
  bool numeric = false;                ///< all levels are numbers
};

/// What can be compared: the candidates that were scored on the same data.
struct Question {
  std::string id;     ///< "test-f1", "test-f1-2"
  std::string title;  ///< "test/f1 on wnut17/test.conll"
  std::vector<RunRow> runs = {};
  Comparison comparison = {};
  std::vector<std::string> labels = {};  ///< the candidates' names without what they have in common:
  std::string before = {}, behind = {};  ///< what is left out in front of labels and behind them
  std::vector<std::size_t> order =
      {};                      ///< candidates from the best mean to the worst, those without one last
  std::size_t scored() const;  ///< how many candidates have a value; they come first in the order
  std::optional<std::size_t> first() const;  ///< the candidate with the best mean, if any has one
  bool best(std::size_t candidate) const;    ///< whether the tests tell it from every other as the best
};

struct Material {
  Store& store;
  ReportOptions options;
  std::string subject;       ///< "run a", "sweep b", "all runs"
  std::string metric;        ///< that the report is about
  std::string select;        ///< how checkpoints are chosen: "max dev/f1"; empty where runs differ in it
  std::vector<RunRow> runs;  ///< by name, numbers in it by value
  RunBatch::ByRun<ParamRow> params;
  RunBatch::ByRun<DatasetRow> datasets;
  RunBatch::ByRun<AttemptRow> attempts;
  RunBatch::ByRun<ArtifactRow> artifacts;
  RunBatch::ByRun<VerificationRow> verifications;
  std::vector<SweepRow> sweeps;
  std::vector<Factor> factors;  ///< without the seed
  std::vector<Question> questions;

  /// Of the run's last attempt that told what it is; null where none did.
  const AttemptRow* told(const RunRow& run) const;
  /// A setting's value; null where the run has none.
  nlohmann::json setting(const RunRow& run, const std::string& key) const;
  /// How many of so many rows a table shows.
  std::size_t rows_of(std::size_t all) const;
};

/// factors.cpp: of material whose runs and settings are read, or of any runs.
std::vector<Factor> factors_of(const Material& material);
std::vector<Factor> factors_of(const std::vector<RunRow>& runs, const RunBatch::ByRun<ParamRow>& params);
/// questions.cpp: of material whose runs, data and metric are known.
std::vector<Question> questions_of(const Material& material);

Material gather(Store& store, const std::vector<RunRow>& runs, const std::string& subject,
                const ReportOptions& options);

}  // namespace encore
