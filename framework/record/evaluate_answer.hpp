// SPDX-License-Identifier: BSD-3-Clause
// EvaluateAnswer: the answer of `encore-worker evaluate`, which is the measures of a set, and what each of
// them means. The worker writes it (worker/evaluate_verb.cpp), `exp evaluate` prints it
// (cli/evaluation_text.cpp), `exp retrain` compares two of them (app/retraining_comparison.cpp). Users see
// these members as JSON, so they keep their names.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/measure_json.hpp"
#include "record/event_fields.hpp"

namespace encore::record {

struct ScoredFile {
  std::string file, sha256;
};
void list(auto& field, A<ScoredFile> auto& file) {
  field("file", file.file);
  field("sha256", file.sha256);
}

struct EvaluateAnswer {
  std::int64_t step = 0;  ///< after which the parameters were taken
  std::vector<ScoredFile> files = {};
  std::size_t examples = 0;
  std::vector<NamedCount> counts = {};                 ///< what the task counted
  std::vector<std::string> notes;                      ///< sentences for the user
  std::map<std::string, double> measures = {};         ///< NaN: not defined
  std::vector<encore::Measure> definitions;            ///< what the measures mean
  nlohmann::json matrices = nlohmann::json::object();  ///< by the name of the measure (matrix_in)
  std::vector<nlohmann::json> statistics = {};         ///< of each example if asked for (add_example)

  /// The first file once more, as the first versions wrote it.
  ScoredFile first = {};
};
void list(auto& field, A<EvaluateAnswer> auto& answer) {
  list(field, answer.first);
  field("step", answer.step);
  field("files", answer.files);
  field("examples", answer.examples);
  field("counts", answer.counts);
  field("notes", answer.notes);
  field("measures", answer.measures);
  field("definitions", answer.definitions);
  field("matrices", answer.matrices);
  field.optional("statistics", answer.statistics);
}

}  // namespace encore::record
