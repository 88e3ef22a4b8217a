// SPDX-License-Identifier: BSD-3-Clause
// The verb evaluate: scores a run's best checkpoint on files that its reader reads, for `exp evaluate`. The
// measures are one JSON object on standard output (record/evaluate_answer.hpp), which `exp evaluate --json`
// prints, so its members keep their names; verbs.hpp describes the arguments.
#include <iostream>

#include <encore/device.hpp>
#include <nlohmann/json.hpp>

#include "base/measures.hpp"
#include "infer/engine.hpp"
#include "infer/observe.hpp"
#include "record/evaluate_answer.hpp"
#include "tasks/new_examples.hpp"
#include "worker/answers.hpp"
#include "worker/verb_helpers.hpp"
#include "worker/verbs.hpp"
#include "world/atomic_file.hpp"

namespace encore::worker {
namespace {

using nlohmann::json;

/// Returns the matrices among the measures, by name.
json matrices_of(const std::vector<Measure>& measures, const Statistics& statistics) {
  json matrices = json::object();
  for (const Measure& measure : measures) {
    if (measure.reducer != Reducer::matrix) continue;
    CountMatrix matrix;
    matrix.add(measure, statistics);
    matrices[measure.name] = json_of(matrix);
  }
  return matrices;
}

void keep_reference(const infer::Engine& model, const Records& records, const ExampleSet& set,
                    const Outputs& outputs, const std::string& source, const std::filesystem::path& folder) {
  const Records labelled = model.task().label(records, set, outputs);
  const record::TextReference reference = infer::reference_of({.task = model.task(),
                                                               .tokenizer = model.tokenizer(),
                                                               .set = set,
                                                               .outputs = outputs,
                                                               .labelled = labelled},
                                                              source, model.step());
  world::save_file(folder / record::reference_file, reference.json());
}

}  // namespace

int evaluate_verb(const TrainedRunArguments& run, const EvaluateArguments& arguments) {
  const std::vector<std::string>& files = arguments.files;
  if (files.empty()) throw Error("evaluate needs --file FILE");
  const std::string& file = files.front();
  const Device device;
  infer::Engine model(run.folder, run.plugin_folders, device, run.weights);
  for (const std::string& note : model.notes()) std::cerr << "encore-worker: " << note << '\n';
  if (arguments.beam > 0) model.decode_by({.beam = arguments.beam});
  tasks::ReadSet read = tasks::read_set(model.reader(), files, "evaluation set");
  const tasks::EncodedSet set = tasks::with_file(file, [&] {
    tasks::require_fields(read.records, model.fields());
    if (arguments.held_out > 0)
      read.records = tasks::held_out(read.records, model.fields(), arguments.held_out);
    model.extend(read.records);
    return model.encode(read.records, host_threads());
  });
  const infer::Evaluation evaluation = model.run(set, telling_progress());
  const Statistics statistics = tasks::measured(model.task(), set.set, evaluation.outputs, "evaluation set");
  if (arguments.reference)
    keep_reference(model, read.records, set.set, evaluation.outputs,
                   std::filesystem::path(file).filename().string(), run.folder);

  const SetDescription description = model.task().describe(set.set);
  record::EvaluateAnswer answer{.step = model.step(),
                                .examples = set.set.size(),
                                .notes = description.notes,
                                .definitions = model.measures(),
                                .matrices = matrices_of(model.measures(), statistics)};
  for (std::size_t i = 0; i < files.size(); ++i) answer.files.push_back({files[i], read.sha256.at(i)});
  answer.first = answer.files.front();
  for (const auto& [name, value] : description.counts) answer.counts.push_back({name, value});
  answer.notes.insert(answer.notes.end(), read.records.notes.begin(), read.records.notes.end());
  for (const auto& [name, value] : measure_values(model.measures(), statistics))
    answer.measures[name] = value;
  answer.measures[loss_measure().name] = evaluation.loss;
  answer.definitions.push_back(loss_measure());
  if (arguments.statistics)
    for (std::size_t i = 0; i < statistics.examples(); ++i)
      answer.statistics.push_back(json_of(statistics, i));
  write_answer(to_json_object(answer));
  return 0;
}

}  // namespace encore::worker
