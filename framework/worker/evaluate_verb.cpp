// SPDX-License-Identifier: BSD-3-Clause
// The verb evaluate: scores a run's best checkpoint on files that its reader reads, for `exp evaluate`. The
// measures are one JSON object on standard output; verbs.hpp describes the arguments.
#include <iostream>

#include <encore/device.hpp>
#include <nlohmann/json.hpp>

#include "base/host_measures.hpp"
#include "base/measure_json.hpp"
#include "infer/engine.hpp"
#include "infer/observe.hpp"
#include "tasks/new_examples.hpp"
#include "worker/answers.hpp"
#include "worker/tell_progress.hpp"
#include "worker/verbs.hpp"
#include "world/atomic_file.hpp"

namespace encore {
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

void keep_reference(const Engine& model, const Records& records, const ExampleSet& set,
                    const Outputs& outputs, const std::string& source, const std::filesystem::path& folder) {
  const Records labelled = model.task().label(records, set, outputs);
  const TextReference reference = reference_of({.task = model.task(),
                                                .tokenizer = model.tokenizer(),
                                                .set = set,
                                                .outputs = outputs,
                                                .labelled = labelled},
                                               source, model.step());
  save_file(folder / reference_file, reference.json());
}

}  // namespace

int evaluate_verb(const TrainedRunArguments& run, const EvaluateArguments& arguments) {
  const std::vector<std::string>& files = arguments.files;
  if (files.empty()) throw Error("evaluate needs --file FILE");
  const std::string& file = files.front();
  const Device device;
  Engine model(run.folder, run.plugin_folders, device, run.weights);
  for (const std::string& note : model.notes()) std::cerr << "encore-worker: " << note << '\n';
  if (arguments.beam > 0) model.decode_by({.beam = arguments.beam});
  ReadSet read = read_set(model.reader(), files, "evaluation set");
  const EncodedSet set = with_file(file, [&] {
    require_fields(read.records, model.fields());
    if (arguments.held_out > 0) read.records = held_out(read.records, model.fields(), arguments.held_out);
    model.extend(read.records);
    return model.encode(read.records, host_threads());
  });
  const Evaluation evaluation = model.run(set, telling_progress());
  const Statistics statistics = measured(model.task(), set.set, evaluation.outputs, "evaluation set");
  if (arguments.reference)
    keep_reference(model, read.records, set.set, evaluation.outputs,
                   std::filesystem::path(file).filename().string(), run.folder);

  json measures = json::object(), definitions = json::array(), counts = json::array();
  for (const auto& [name, value] : measure_values(model.measures(), statistics)) measures[name] = value;
  measures[loss_measure().name] = evaluation.loss;
  for (const Measure& measure : model.measures()) definitions.push_back(json_of(measure));
  definitions.push_back(json_of(loss_measure()));
  json sources = json::array();
  for (std::size_t i = 0; i < files.size(); ++i)
    sources.push_back({{"file", files[i]}, {"sha256", read.sha256.at(i)}});
  const SetDescription description = model.task().describe(set.set);
  for (const auto& [name, value] : description.counts) counts.push_back({{"name", name}, {"value", value}});
  std::vector<std::string> notes = description.notes;
  notes.insert(notes.end(), read.records.notes.begin(), read.records.notes.end());
  json answer = {{"step", model.step()},
                 {"file", file},
                 {"sha256", read.sha256.front()},
                 {"files", sources},
                 {"examples", set.set.size()},
                 {"counts", counts},
                 {"notes", notes},
                 {"measures", measures},
                 {"definitions", definitions},
                 {"matrices", matrices_of(model.measures(), statistics)}};
  if (arguments.statistics)
    for (std::size_t i = 0; i < statistics.examples(); ++i)
      answer["statistics"].push_back(json_of(statistics, i));
  answer_stream() << answer.dump(-1, ' ', false, json::error_handler_t::replace) << '\n';
  return 0;
}

}  // namespace encore
