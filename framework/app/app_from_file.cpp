// SPDX-License-Identifier: BSD-3-Clause
// app_from_file(): asks the worker what the user's file holds, refuses what cannot become an application, and
// writes the folder in one step: it appears with both files or not at all. cli/app_verb.cpp calls it. Names
// of options are in users' scripts, so they stay. Read app_from_file.hpp first.
#include "app/app_from_file.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <string_view>

#include "app/app_files.hpp"
#include "app/run_selection.hpp"
#include "app/worker_answer.hpp"
#include "base/nearest.hpp"
#include "base/readable_text.hpp"
#include "config/catalogue.hpp"
#include "plan/name_pattern.hpp"
#include "runner/programs.hpp"
#include "store/store.hpp"
#include "world/atomic_file.hpp"

namespace encore::app {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t listed_classes = 10;

void require_run_name(const std::string& name) {
  config::Problems problems;
  const plan::NamePattern pattern = plan::parse_name(name, {}, problems);
  if (!problems.empty())
    throw UsageError("invalid name \"" + name + "\" of an application: " + problems.all().front().message);
  if (pattern.has_options())
    throw UsageError("invalid name \"" + name +
                     "\" of an application: expected letters, digits and . _ + -, such as tickets");
}

void require_new_folder(const fs::path& folder) {
  if (fs::exists(fs::symlink_status(folder)))
    throw UsageError(folder.string() + " exists: choose another name, or another folder with --folder");
}

/// Returns the folder as a user writes it, without a slash at its end.
fs::path folder_of(const AppNewRequest& request) {
  const fs::path folder = fs::path(request.folder.value_or(request.name)).lexically_normal();
  return folder.has_filename() ? folder : folder.parent_path();
}

/// Returns the path of a file as seen from the folder, which does not exist yet.
std::string seen_from(const fs::path& folder, const fs::path& file) {
  const auto place = [](const fs::path& path) { return fs::weakly_canonical(fs::absolute(path)); };
  return place(file).lexically_proximate(place(folder)).generic_string();
}

/// Returns what --base names. A word that is a run and a folder means the run; ./WORD is the folder.
std::optional<AppBase> base_of(const AppNewRequest& request, const App& app, const fs::path& folder) {
  if (!request.base) return {};
  const std::string& base = *request.base;
  if (fs::exists(app.database) && means_run(app, base)) {
    store::Store store(app.database, store::OpenMode::read);
    return AppBase{.run = selected_run(app, store, selection_from({}, {base})).name};
  }
  if (!fs::is_directory(base))
    throw UsageError("invalid --base \"" + base + "\": expected a run of " + app.database.string() +
                     ", or a folder with config.json and model.safetensors; exp ls lists the runs");
  if (!fs::exists(fs::path(base) / "config.json"))
    throw UsageError("invalid --base \"" + base + "\": the folder has no config.json; expected a folder as " +
                     "save_pretrained() of transformers writes it");
  return AppBase{.folder = seen_from(folder, base)};
}

record::SurveyAnswer survey_of(const AppNewRequest& request, const App& app) {
  const runner::Programs programs = runner::installed_programs();
  const std::string backend = backend_of(request.backend.backend, programs);
  const fs::path worker = runner::worker_program(programs, backend);
  const std::vector<fs::path> folders =
      runner::plugin_search_path({}, request.backend.plugin_path, programs, backend);
  config::Catalogue::load(folders, runner::fingerprint_of(programs, backend)).require_built({"tsv", "jsonl"});
  record::SurveyRequest wanted{.file = request.from,
                               .test = request.test.value_or(""),
                               .text = request.text.value_or(""),
                               .label = request.label.value_or(""),
                               .header = !request.no_header};
  for (const fs::path& folder : folders) wanted.plugin_folders.push_back(folder.string());
  return worker_answer<record::SurveyAnswer>(app.events, worker, {"survey"}, to_json_object(wanted).dump());
}

std::string line_of(const record::SurveyedColumn& column) {
  if (column.others > 0.5) return "\"" + column.name + "\": lists, which are neither a text nor a label";
  const std::string values = column.values ? counted(static_cast<std::size_t>(*column.values), "value")
                                           : std::string("over 1,000 values");
  std::string line = "\"" + column.name + "\": " + values;
  if (column.rarest > 0)
    line += ", the rarest in " + counted(static_cast<std::size_t>(column.rarest), "record");
  if (column.empty > 0) line += ", " + thousands(column.empty) + " empty";
  return line + ", " + fixed_text(column.characters, 0) + " characters and " + fixed_text(column.words, 1) +
         " words on average, such as \"" + column.example + "\"";
}

/// Returns the message about a column that could not be chosen, with the candidates, or with all columns if
/// none is a candidate.
std::string undecided_text(const AppNewRequest& request, const record::SurveyAnswer& survey) {
  const bool is_text = survey.text.name.empty();
  const record::ChosenColumn& chosen = is_text ? survey.text : survey.label;
  const std::string role = is_text ? "text" : "label";
  const bool has_candidates = !chosen.candidates.empty();
  std::string text = request.from +
                     (has_candidates ? ": several columns may be the " + role
                                     : ": no column looks like a " + role +
                                           (is_text ? " of several words" : " whose values repeat")) +
                     "; name it with --" + role + " COLUMN:";
  for (const record::SurveyedColumn& column : survey.columns)
    if (!has_candidates || std::ranges::find(chosen.candidates, column.name) != chosen.candidates.end())
      text += "\n  " + line_of(column);
  return text;
}

/// Throws UsageError if no classifier can be trained on the records.
void require_classes(const AppNewRequest& request, const record::SurveyAnswer& survey) {
  const std::vector<record::SurveyedClass>& classes = survey.found->classes;
  const std::string column = "column \"" + survey.label.name + "\"";
  if (classes.size() < 2)
    throw UsageError(request.from + ": " + column + " has only the label \"" + classes.front().label +
                     "\": expected at least two classes; name another column with --label");
  if (classes.size() > static_cast<std::size_t>(survey.found->records / 2))
    throw UsageError(
        request.from + ": " + column + " has " + thousands(std::ssize(classes)) + " different values in " +
        thousands(survey.found->records) +
        " records: expected classes with several records each; name another column with --label");
  if (!request.out_of_scope) return;
  std::vector<std::string> labels;
  for (const record::SurveyedClass& one : classes) labels.push_back(one.label);
  if (std::ranges::find(labels, *request.out_of_scope) != labels.end()) {
    if (classes.size() > 2) return;
    throw UsageError(request.from + ": " + column + " has one class beside \"" + *request.out_of_scope +
                     "\": expected at least two");
  }
  if (labels.size() > listed_classes) labels.resize(listed_classes);
  throw UsageError(
      "unknown --out-of-scope \"" + *request.out_of_scope + "\"" +
      did_you_mean(*request.out_of_scope, labels, ": " + column + " has " + quoted_list(labels)));
}

/// Returns a class whose name says that a request belongs to no class, or "".
std::string likely_out_of_scope(const record::SurveyedRecords& found) {
  constexpr std::array<std::string_view, 9> names = {
      "other", "others", "none", "oos", "unknown", "misc", "out_of_scope", "out-of-scope", "no_label"};
  for (const record::SurveyedClass& one : found.classes) {
    std::string small = one.label;
    std::ranges::transform(small, small.begin(), [](unsigned char letter) { return std::tolower(letter); });
    if (std::ranges::find(names, small) != names.end()) return one.label;
  }
  return "";
}

void write_files(const fs::path& folder, const std::vector<std::pair<std::string, std::string>>& files) {
  const fs::path aside = world::aside_name(folder);
  world::make_folder(aside);
  try {
    for (const auto& [name, text] : files) world::save_file(aside / name, text);
    require_new_folder(folder);
    fs::rename(aside, folder);
  } catch (...) {
    std::error_code ignored;
    fs::remove_all(aside, ignored);
    throw;
  }
  world::sync_folder(folder.parent_path());
}

}  // namespace

Form<AppNewRequest> app_new_form() {
  using R = AppNewRequest;
  return Form<R>(
             "app new",
             {"app new NAME --from FILE [options]",
              "Makes an application from your own file of labelled text (CSV, TSV or JSON lines): finds the "
              "columns of text and label, counts classes, duplicates and leaks, and writes the folder NAME "
              "with the experiment of a model and the application that asks it. The file is read where it "
              "is, not copied.",
              {{"exp app new desk --from tickets.csv", "then: exp run desk/app.toml"},
               {"exp app new strict --from tickets.csv --error 0.02 --out-of-scope other",
                "at most 2 % of the automatic answers are wrong; requests of the class other belong to no "
                "class"}}})
      .option("from", &R::from, "FILE", "file of labelled text: .csv, .tsv or .jsonl")
      .option("test", &R::test, "FILE", "a test set of its own, in the same form (default: a fifth of FILE)")
      .option("text", &R::text, "COLUMN",
              "column of the text: a heading, a number, or a key such as fields.body (default: proposed)")
      .option("label", &R::label, "COLUMN", "column of the label (default: proposed)")
      .option("out-of-scope", &R::out_of_scope, "LABEL", "label of requests that belong to no class")
      .option("error", &R::error, "SHARE",
              "largest share of wrong answers among the automatic ones, with 95 % confidence")
      .option("base", &R::base, "MODEL",
              "fine-tune this model: a folder of transformers, or a run (default: train a small model from "
              "scratch)")
      .option("folder", &R::folder, "FOLDER", "write into this new folder (default: NAME)")
      .flag("no-header", &R::no_header, "the first line of a table is a record; columns are numbers from 1")
      .flag("json", &R::json, "print what was found and written as JSON")
      .include(&R::backend, backend_options())
      .argument("name", &R::name, "a name")
      .refuse([](const R& request) -> std::string {
        if (request.from.empty())
          return "exp app new needs --from with a file, such as tickets.csv (exp app new -h shows an "
                 "example)";
        if (!(request.error > 0.0 && request.error < 1.0))
          return "invalid --error " + exact_text(request.error) + ": expected a share above 0 and below 1";
        return "";
      });
}

AppFromFile app_from_file(const AppNewRequest& request, const App& app) {
  require_run_name(request.name);
  const fs::path folder = folder_of(request);
  require_new_folder(folder);
  AppFilesPlan plan{.name = request.name,
                    .error = request.error,
                    .out_of_scope = request.out_of_scope,
                    .base = base_of(request, app, folder)};
  AppFromFile made{.survey = survey_of(request, app), .folder = folder};
  if (!made.survey.found) {
    made.undecided = undecided_text(request, made.survey);
    return made;
  }
  const record::SurveyedRecords& found = *made.survey.found;
  require_classes(request, made.survey);
  for (const record::SurveyedClass& one : found.classes)
    if (one.records < least_of_class) made.small_classes.push_back(one.label);
  if (!request.out_of_scope) made.likely_out_of_scope = likely_out_of_scope(found);
  made.shares = shares_for(found.records, request.error, request.test.has_value());
  made.promise =
      promise_size(std::llround(made.shares.fit * static_cast<double>(found.records)), request.error);
  made.comfortable = comfortable_size(request.error);
  plan.survey = made.survey;
  plan.shares = made.shares;
  plan.likely_out_of_scope = made.likely_out_of_scope;
  plan.file = seen_from(folder, request.from);
  if (request.test) plan.test = seen_from(folder, *request.test);
  write_files(folder, {{model_file_name, model_file_text(plan)}, {app_file_name, app_file_text(plan)}});
  made.files = {model_file_name, app_file_name};
  return made;
}

}  // namespace encore::app
