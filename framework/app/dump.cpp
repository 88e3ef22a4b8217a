// SPDX-License-Identifier: BSD-3-Clause
// `exp dump`: writes runs as CSV tables or TensorBoard files for other programs (cli/dump_verb.cpp calls it;
// cli/run_json.cpp writes the JSON). Other programs read columns by name: a column may be added, none may be
// renamed. Read next: dump.hpp.
#include "app/dump.hpp"

#include <cctype>
#include <cmath>

#include <nlohmann/json.hpp>

#include "document/escape.hpp"
#include "record/run_paths.hpp"
#include "world/atomic_file.hpp"

namespace encore::app {

namespace {

namespace fs = std::filesystem;

/// Returns the shortest text that reads back as the same number, or nan, inf or -inf, which JSON cannot
/// write.
std::string shortest_number(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  return nlohmann::json(value).dump();
}

std::string plain_text(const nlohmann::json& value) {
  return value.is_string() ? value.get<std::string>() : value.is_null() ? "" : value.dump();
}

void write_runs_csv(store::Store& store, const std::vector<store::RunRow>& runs, const fs::path& path) {
  world::AtomicFile file(path);
  file.write(
      document::csv_record({"id", "name", "state", "reason", "backend", "seed", "repeat", "sweep", "question",
                            "group", "tags", "note", "created", "finished", "best_step", "result"}));
  for (const store::RunRow& run : runs) {
    std::string tags;
    for (const std::string& tag : store.read_tags(run.number)) tags += (tags.empty() ? "" : ",") + tag;
    const auto result = [&](const char* key) {
      return run.result.is_object() && run.result.contains(key) ? plain_text(run.result[key]) : "";
    };
    file.write(document::csv_record({run.id, run.name, store::name_of(run.state), run.reason, run.backend,
                                     std::to_string(run.seed), std::to_string(run.repeat), run.sweep,
                                     run.question, run.group, tags, run.note, shortest_number(run.created),
                                     run.finished ? shortest_number(*run.finished) : "", result("best_step"),
                                     result("measures")}));
  }
  file.commit();
}

void write_params_csv(store::Store& store, const std::vector<store::RunRow>& runs, const fs::path& path) {
  world::AtomicFile file(path);
  file.write(document::csv_record({"id", "key", "type", "value", "source", "at"}));
  for (const store::RunRow& run : runs)
    for (const store::ParamRow& param : store.read_params(run.number))
      file.write(document::csv_record(
          {run.id, param.key, param.type, plain_text(param.value), param.source, param.at}));
  file.commit();
}

void write_points_csv(store::Store& store, const std::vector<store::RunRow>& runs, const fs::path& path) {
  world::AtomicFile file(path);
  file.write(document::csv_record({"id", "metric", "step", "attempt", "value"}));
  for (const store::RunRow& run : runs)
    for (const store::MetricRow& metric : store.read_metrics(run.number)) {
      std::string records;
      for (const store::CurvePoint& point : store.read_curve(run.number, metric.name))
        records += document::csv_record({run.id, metric.name, std::to_string(point.step),
                                         std::to_string(point.attempt), shortest_number(point.value)});
      file.write(records);
    }
  file.commit();
}

/// Returns the folder of a run; TensorBoard shows its name. Special characters are replaced and long names
/// are cut, so a user's name cannot become a path; the id keeps the names unique.
std::string folder_name(const store::RunRow& run) {
  constexpr std::size_t longest_folder_name = 200;  // file systems allow 255 bytes; an id follows
  std::string name = run.name;
  for (char& letter : name) {
    const auto code = static_cast<unsigned char>(letter);
    if (std::isalnum(code) == 0 && std::string_view("-_=+,.").find(letter) == std::string_view::npos)
      letter = '_';
  }
  if (name.starts_with('.')) name.front() = '_';
  if (name.size() > longest_folder_name) name.resize(longest_folder_name);
  return name == run.name ? name : name + "-" + run.id;
}

}  // namespace

Form<DumpRequest> dump_form() {
  using R = DumpRequest;
  return Form<R>("dump",
                 {"dump [RUN...] --csv|--json|--tensorboard [-o PLACE]",
                  "Writes runs with their settings and all current points, for other programs. --csv: a "
                  "folder with runs.csv, params.csv and points.csv; --json: one file, as exp show --json "
                  "prints a run; --tensorboard: a folder with one folder of scalars for each run. Existing "
                  "files with these names are replaced. Without RUN, all runs are written.",
                  {{"exp dump --csv -o tables", "all runs as three tables"},
                   {"exp dump quickstart --tensorboard -o boards", "then: tensorboard --logdir boards"},
                   {"exp dump --state completed --where \"test/f1 >= 0.0\" --csv -o good",
                    "selected runs as three tables"},
                   {"exp dump quickstart --json", "print to standard output"}}})
      .flag("csv", &R::csv, "write CSV into a folder")
      .flag("json", &R::json, "write JSON into a file or to standard output")
      .flag("tensorboard", &R::tensorboard, "write TensorBoard's event files into a folder")
      .option("output,o", &R::output, "PLACE", "the folder or file to write")
      .include(&R::selection, run_arguments())
      .refuse([](const R& request) -> std::string {
        if (request.csv + request.json + request.tensorboard != 1)
          return "exp dump needs one of --csv, --json and --tensorboard (exp dump -h shows examples)";
        return request.output.empty() && !request.json ? "exp dump needs -o with a folder to write into" : "";
      });
}

std::vector<store::RunRow> dumped_runs(const DumpRequest& request, store::Store& store) {
  const store::RunSelection selection = selection_from(request.selection);
  store::SelectedRuns selected = store::select_runs(store, selection);
  if (selected.runs.empty() && (selection.narrows() || !selection.words.empty()))
    throw store::UnknownRun(none_text(store, selection, selected));
  return std::move(selected.runs);
}

void write_tables(store::Store& store, const std::vector<store::RunRow>& runs, const fs::path& folder) {
  world::make_folder(folder);
  write_runs_csv(store, runs, folder / "runs.csv");
  write_params_csv(store, runs, folder / "params.csv");
  write_points_csv(store, runs, folder / "points.csv");
}

void write_tensorboard(store::Store& store, const std::vector<store::RunRow>& runs, const fs::path& folder) {
  for (const store::RunRow& run : runs) {
    record::require_run_id(run.id, "database " + store.path().string());
    const fs::path place = folder / folder_name(run);
    world::make_folder(place);
    // Points have no time of their own, so all get the start of the last attempt.
    const double time = run.started.value_or(run.created);
    world::AtomicFile file(place / ("events.out.tfevents." +
                                    std::to_string(static_cast<std::int64_t>(run.created)) + "." + run.id));
    file.write(tensorboard_head(time));
    for (const store::MetricRow& metric : store.read_metrics(run.number)) {
      std::string records;
      for (const store::CurvePoint& point : store.read_curve(run.number, metric.name))
        records += tensorboard_scalar(metric.name, point.step, point.value, time);
      file.write(records);
    }
    file.commit();
  }
}

}  // namespace encore::app
