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
#include "record/evaluate_answer.hpp"
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

/// Warns about records that are longer than a model of the application reads. It prints only the first one.
class TooLong {
 public:
  TooLong(const apply::Application& application, std::string what)
      : application_(application), what_(std::move(what)) {}

  void look_at(const Records& records) {
    if (found_) return;
    for (const std::string& left_out : application_.left_out(records)) {
      ++number_;
      if (left_out.empty() || found_) continue;
      found_ = true;
      std::cerr << "encore-worker: " << what_ << ' ' << number_
                << " is longer than a model of the application "
                << "reads: " << left_out << "; cut the text into shorter " << what_
                << "s (only the first such " << what_ << " is named)\n";
    }
  }

 private:
  const apply::Application& application_;
  std::string what_;
  std::int64_t number_ = 0;
  bool found_ = false;
};

}  // namespace

int predict_application_verb(const TrainedRunArguments& run, const std::string& format,
                             infer::Scores scores) {
  if (format != "text" && format != "jsonl")
    throw Error("--format is \"" + format +
                "\"; lines of text are answered as text or jsonl, since an application gives more than the "
                "format of its data has room for");
  const Device device;
  apply::Application application = opened(run, device);
  TooLong too_long(application, "line");
  InputLines input(std::cin);
  for (;;) {
    const std::vector<std::string> lines = input.next();
    if (lines.empty()) return 0;
    const Records records = application.from_text(lines);
    const apply::Applied applied = application.apply(records);
    too_long.look_at(records);
    if (format == "text" && !applied.shown.fields().empty())
      write_lines(lines, applied.shown);
    else
      write_json_answers(apply::answers_with_inputs(
          application, records, applied.given,
          scores == infer::Scores::with ? apply::ClassScores::with : apply::ClassScores::without));
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
    TooLong(application, "record").look_at(*records);
    answers = apply::answers_of(application.apply(*records).given, apply::ClassScores::without);
  }
  answer_stream() << application.reader().write_answers(input, answers);
  require_answers_written();
  return 0;
}

int evaluate_application_verb(const TrainedRunArguments& run, const EvaluateArguments& arguments) {
  if (arguments.files.empty()) throw Error("evaluate needs --file FILE");
  if (arguments.beam > 0 || arguments.held_out > 0 || arguments.reference)
    throw Error(
        "an application is evaluated without --beam, --reference and a share that is held out: these "
        "are for the model of a training; evaluate the runs that its steps ask");
  const Device device;
  apply::Application application = opened(run, device);
  const tasks::ReadSet read = tasks::read_set(application.reader(), arguments.files, "evaluation set");
  tasks::with_file(arguments.files.front(),
                   [&] { tasks::require_fields(read.records, application.fields()); });
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
  for (const auto& [name, value] : measure_values(application.measures(), statistics))
    answer.measures[name] = value;
  if (arguments.statistics)
    for (std::size_t i = 0; i < statistics.examples(); ++i)
      answer.statistics.push_back(json_of(statistics, i));
  write_answer(to_json_object(answer));
  return 0;
}

}  // namespace encore::worker
