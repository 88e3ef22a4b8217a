// SPDX-License-Identifier: BSD-3-Clause
// The verbs predict and evaluate for the run of an application, whose steps ask the models of other runs.
// main.cpp calls them in place of predict_verb(), predict_file_verb() and evaluate_verb() and with the same
// arguments, input and output; `exp` need not know which. serve_verb.cpp answers requests with the same
// functions of apply/, so that both give the same bytes.
#include <algorithm>
#include <iostream>
#include <iterator>
#include <optional>

#include <encore/device.hpp>
#include <nlohmann/json.hpp>

#include "apply/application.hpp"
#include "base/load_file.hpp"
#include "base/measure_json.hpp"
#include "base/measures.hpp"
#include "base/readable_text.hpp"
#include "base/sha256.hpp"
#include "record/evaluate_answer.hpp"
#include "tasks/new_examples.hpp"
#include "tasks/prediction_file.hpp"
#include "tasks/read_set.hpp"
#include "worker/answers.hpp"
#include "worker/verb_helpers.hpp"
#include "worker/verbs.hpp"

namespace encore::worker {
namespace {

apply::Application opened(const TrainedRunArguments& run, const Device& device) {
  apply::Application application = apply::Application::open(run.folder, run.plugin_folders, device);
  for (const auto& [step, model] : application.models())
    for (const std::string& note : model->engine().notes())
      std::cerr << "encore-worker: step " << step << ": " << note << '\n';
  return application;
}

/// Writes a line for people for each line of the input: the answer, a tab, and the input.
void write_lines(const std::vector<std::string>& lines, const Records& shown) {
  const Records::Texts& answers = shown.texts(tasks::shown_field);
  for (std::size_t i = 0; i < lines.size(); ++i) answer_stream() << answers[i] << '\t' << lines[i] << '\n';
}

/// Returns a JSON array with an object for each step: its type, what decides its answers, and its time for
/// the records that were answered together.
nlohmann::json json_of(const std::vector<apply::StepTrace>& steps, std::size_t records) {
  nlohmann::json list = nlohmann::json::array();
  for (const apply::StepTrace& step : steps) {
    nlohmann::json entry = {
        {"step", step.step}, {"type", step.type}, {"seconds", step.seconds}, {"records", records}};
    if (!step.run.empty())
      entry["asks"] = {{"name", step.run_name}, {"run", step.run}, {"weights", step.weights}};
    if (!step.knowledge.empty()) entry["knowledge"] = step.knowledge;
    list.push_back(std::move(entry));
  }
  return list;
}

/// Writes a line for people for each step, below the answers to `records` records.
void write_trace(const std::vector<apply::StepTrace>& steps, std::size_t records) {
  std::size_t width = 0;
  for (const apply::StepTrace& step : steps) width = std::max(width, step.step.size());
  for (const apply::StepTrace& step : steps) {
    answer_stream() << "  " << step.step << std::string(width - step.step.size(), ' ') << "  " << step.type;
    if (!step.run.empty())
      answer_stream() << ", asks " << step.run_name << " (" << step.run << "), weights "
                      << short_hash(step.weights);
    if (!step.knowledge.empty()) answer_stream() << ", knowledge " << short_hash(step.knowledge);
    answer_stream() << ", " << fixed_text(step.seconds * 1e3, 2) << " ms for " << counted(records, "record")
                    << '\n';
  }
}

/// The limit in warnings about inputs that are too long (LeftOut).
constexpr const char* limit_of_models = "a model of the application reads";

}  // namespace

int predict_application_verb(const TrainedRunArguments& run, const PredictArguments& arguments) {
  const std::string& format = arguments.format;
  if (format != "text" && format != "jsonl")
    throw Error("--format is \"" + format +
                "\"; lines of text are answered as text or jsonl, since an application gives more than the "
                "format of its data has room for");
  const Device device;
  apply::Application application = opened(run, device);
  LeftOut too_long("line", limit_of_models);
  InputLines input(std::cin);
  for (;;) {
    const std::vector<std::string> lines = input.next();
    if (lines.empty()) return 0;
    const Records records = application.from_text(lines);
    const apply::Applied applied = application.apply(records);
    const std::vector<apply::StepTrace> trace =
        arguments.trace ? application.trace(applied) : std::vector<apply::StepTrace>();
    const std::vector<tasks::InputUse> uses = application.uses(records);
    too_long.look_at(uses);
    if (format == "text" && !applied.shown.fields().empty()) {
      write_lines(lines, applied.shown);
      write_trace(trace, lines.size());
    } else {
      const auto scores =
          arguments.scores == infer::Scores::with ? apply::ClassScores::with : apply::ClassScores::without;
      const Records answers = apply::answers_with_inputs(application, records, applied.given, scores);
      for (std::size_t i = 0; i < answers.size(); ++i) {
        nlohmann::json more = tasks::members_of(uses[i]);
        if (arguments.trace) more["trace"] = json_of(trace, lines.size());
        answer_stream() << tasks::answer_json(answers, i, more) << '\n';
      }
    }
    require_answers_written();
  }
}

int predict_application_file_verb(const TrainedRunArguments& run, const std::string& file) {
  const Device device;
  apply::Application application = opened(run, device);
  std::ios::sync_with_stdio(false);
  const std::string text(std::istreambuf_iterator<char>(std::cin), {});
  if (std::cin.bad()) throw Error(file + ": the file could not be read to its end");
  require_utf8(text, file, "file");
  const InputText input{.name = file, .text = text};
  const std::optional<Records> records = application.reader().read_questions(input);
  if (!records)
    throw Error("the reader \"" + application.description().data.reader.type +
                "\" of this application cannot label a file of its own format (" + file +
                "); ask about lines of text with --format text or jsonl");
  for (const std::string& note : records->notes) std::cerr << "encore-worker: " << note << '\n';
  Records answers;
  if (records->size() > 0) {
    tasks::with_file(file, [&] { tasks::require_fields(*records, {application.fields().structure, {}}); });
    LeftOut("record", limit_of_models).look_at(application.uses(*records));
    answers = apply::answers_of(application.apply(*records).given, apply::ClassScores::without);
  }
  answer_stream() << application.reader().write_answers(input, answers);
  require_answers_written();
  return 0;
}

int evaluate_application_verb(const TrainedRunArguments& run, const EvaluateArguments& arguments) {
  if (arguments.files.empty()) throw Error("evaluate needs --file FILE");
  if (arguments.beam > 0 || arguments.reference)
    throw Error(
        "an application is evaluated without --beam and --reference: these are for the model of a training; "
        "evaluate the runs that its steps ask");
  const Device device;
  apply::Application application = opened(run, device);
  tasks::ReadSet read = tasks::read_set(application.reader(), arguments.files, "evaluation set");
  tasks::with_file(arguments.files.front(), [&] {
    tasks::require_fields(read.records, application.fields());
    if (arguments.held_out > 0)
      read.records = tasks::held_out(read.records, application.fields(), arguments.held_out);
  });
  const apply::Applied applied =
      application.apply(read.records, [](const std::string& step, std::size_t done, std::size_t all) {
        tell_progress({.what = "step " + step, .unit = "records", .done = done, .all = all});
      });
  const Statistics statistics = application.measure(read.records, applied.given);
  record::EvaluateAnswer answer{
      .examples = read.records.size(), .notes = read.records.notes, .definitions = application.measures()};
  for (std::size_t i = 0; i < arguments.files.size(); ++i)
    answer.files.push_back({arguments.files[i], read.sha256.at(i)});
  answer.first = answer.files.front();
  if (const std::string note = tasks::cut_note(application.uses(read.records)); !note.empty())
    answer.notes.push_back(note);
  for (const auto& [name, value] : measure_values(application.measures(), statistics))
    answer.measures[name] = value;
  if (arguments.statistics)
    for (std::size_t i = 0; i < statistics.examples(); ++i)
      answer.statistics.push_back(json_of(statistics, i));
  write_answer(to_json_object(answer));
  return 0;
}

}  // namespace encore::worker
