// SPDX-License-Identifier: BSD-3-Clause
// The verb predict: reads lines of text from standard input and writes the answers of the model's task, for
// `exp predict`. Lines that have arrived are processed together, so that a pipe is fast and a user at a
// terminal gets an answer after every line. An answer must not depend on the lines that are processed with it
// (make_batch_invariant).
#include <algorithm>
#include <iostream>
#include <vector>

#include <encore/device.hpp>

#include "infer/engine.hpp"
#include "worker/answers.hpp"
#include "worker/verb_helpers.hpp"
#include "worker/verbs.hpp"

namespace encore::worker {
namespace {

/// Returns the records with the model's labels as their truth, as if a person had labelled the text that way.
Records labelled(const TaskFields& fields, const Records& records, Records predicted) {
  for (const Records::Field& field : records.fields())
    for (const std::vector<std::string>* names : {&fields.structure, &fields.optional})
      if (std::ranges::find(*names, field.name) != names->end()) predicted.add(field.name, field.values);
  return predicted;
}

}  // namespace

int predict_verb(const TrainedRunArguments& run, const PredictArguments& arguments) {
  const std::string& format = arguments.format;
  const infer::Scores scores = arguments.scores;
  if (arguments.trace) throw Error("--trace names the steps of an application, and this run has none");
  const Device device;
  infer::Engine model(run.folder, run.plugin_folders, device, run.weights);
  model.make_batch_invariant();
  for (const std::string& note : model.notes()) std::cerr << "encore-worker: " << note << '\n';
  const std::string& reader = model.experiment().data.reader.type;
  if (format != "text" && format != "jsonl" && format != reader)
    throw Error("--format is \"" + format + "\"; it must be text, jsonl or " + reader +
                ", the format of the data that this run was trained with");
  if (const std::string none = model.no_scores(); scores == infer::Scores::with && !none.empty())
    throw Error(none);
  LeftOut too_long("line", model);
  InputLines input(std::cin);
  for (FilePart part = FilePart::first;; part = FilePart::later) {
    const std::vector<std::string> lines = input.next();
    if (lines.empty()) return 0;
    const Records records = model.task().from_text(lines);
    const tasks::EncodedSet set = model.encode(records);
    const std::vector<tasks::InputUse> uses = uses_of(model, set.set);
    too_long.look_at(uses);
    if (format == "text" || format == "jsonl") {  // also if the reader has that name
      const Records answers = model.answer(records, set, scores).answers;
      format == "text" ? write_text_answers(answers) : write_json_answers(answers, uses);
    } else {
      const Outputs outputs = model.run(set).outputs;
      answer_stream() << model.reader().write(
          labelled(model.fields(), records, model.task().label(records, set.set, outputs)), part);
    }
    require_answers_written();
  }
}

}  // namespace encore::worker
