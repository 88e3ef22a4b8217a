// SPDX-License-Identifier: BSD-3-Clause
// The verb predict with --file: reads a file in the format of the run's data, without truth, and writes the
// same file with the model's answers. For `exp predict --file`. The run's reader reads and writes it, so this
// code knows no format; keep it so, because readers are plugins.
#include <iostream>
#include <iterator>
#include <optional>

#include <encore/device.hpp>

#include "base/load_file.hpp"
#include "infer/engine.hpp"
#include "tasks/read_set.hpp"
#include "worker/answers.hpp"
#include "worker/verb_helpers.hpp"
#include "worker/verbs.hpp"

namespace encore::worker {
namespace {

/// Returns the records of the file. Throws an Error that names the reader if it cannot read files without
/// truth.
Records questions_in(const infer::Engine& model, const InputText& file) {
  const std::string& reader = model.experiment().data.reader.type;
  std::optional<Records> records = model.reader().read_questions(file);
  if (!records)
    throw Error("the reader \"" + reader + "\" of this run cannot label a file of its own format (" +
                file.name +
                "); ask about lines of text with --format text or jsonl, or, if the reader is yours, "
                "override read_questions and write_answers (docs/guides/adding_a_reader.md)");
  tasks::with_file(file.name, [&] { tasks::require_fields(*records, {model.fields().structure, {}}); });
  return std::move(*records);
}

}  // namespace

int predict_file_verb(const TrainedRunArguments& run, const std::string& file) {
  const Device device;
  infer::Engine model(run.folder, run.plugin_folders, device, run.weights);
  model.make_batch_invariant();
  for (const std::string& note : model.notes()) std::cerr << "encore-worker: " << note << '\n';
  std::ios::sync_with_stdio(false);
  const std::string text(std::istreambuf_iterator<char>(std::cin), {});
  if (std::cin.bad()) throw Error(file + ": the file could not be read to its end");
  require_utf8(text, file, "file");

  const InputText input{.name = file, .text = text};
  const Records records = questions_in(model, input);
  for (const std::string& note : records.notes) std::cerr << "encore-worker: " << note << '\n';
  Records answers;
  if (records.size() > 0) {
    const tasks::EncodedSet set = tasks::with_file(file, [&] { return model.encode(records); });
    const Outputs outputs = model.run(set).outputs;
    LeftOut("record", model).look_at(uses_of(model, set.set));
    answers = model.task().label(records, set.set, outputs);
  }
  answer_stream() << model.reader().write_answers(input, answers);
  require_answers_written();
  return 0;
}

}  // namespace encore::worker
