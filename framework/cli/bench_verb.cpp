// SPDX-License-Identifier: BSD-3-Clause
// exp bench, bench ls and bench show: measure this machine and a training step, store the samples, and
// compare with an earlier measurement. The flow: bench_workers (app/bench_requests.hpp) -> run_bench ->
// store -> summarize -> print and compare. It is linked into the program exp-bench, which exp becomes for
// these verbs (bench_main.cpp). --against reads the JSON of --json, also of older versions, so its members
// never change; exit code 1 means a regression.
#include <stdlib.h>

#include "analysis/rank_scaling.hpp"
#include "app/bench_requests.hpp"
#include "cli/bench_text.hpp"
#include "cli/components.hpp"
#include "cli/table.hpp"
#include "report/roofline.hpp"
#include "runner/places.hpp"
#include "store/benches.hpp"
#include "world/atomic_file.hpp"
#include "world/lease_clock.hpp"

namespace encore::cli {

using nlohmann::json;

namespace {

/// A temporary folder beside the folders of the runs, removed after success.
class BenchFolder {
 public:
  explicit BenchFolder(const std::filesystem::path& database) {
    const std::filesystem::path runs = std::filesystem::absolute(database.string() + ".runs");
    std::filesystem::create_directories(runs);
    std::string pattern = (runs / "bench-XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr) throw Error("cannot make the folder " + pattern);
    path_ = pattern;
  }
  const std::filesystem::path& path() const { return path_; }
  void remove() const { std::filesystem::remove_all(path_); }

 private:
  std::filesystem::path path_;
};

/// Prints the progress: one changing line on a terminal, elsewhere a line for each round.
class BenchProgressLine {
 public:
  BenchProgressLine(bool quiet, Console& console)
      : quiet_(quiet), lines_(console.err, console.error_terminal) {}
  void operator()(const runner::BenchProgress& progress) {
    if (quiet_) return;
    const std::string text = progress.round < 0    ? "setting up"
                             : progress.round == 0 ? "warming up"
                                                   : "round " + std::to_string(progress.round) + " of " +
                                                         std::to_string(progress.rounds);
    if (lines_.terminal().live) {
      lines_.set(0, text + "  " + progress.worker);
      lines_.refresh();
    } else {
      lines_.print(clock_text(world::now_seconds()) + " " + text + "  " + progress.worker);
    }
  }
  void hide() { lines_.hide(); }

 private:
  bool quiet_;
  LiveLines lines_;
};

json places_of(const std::vector<runner::BenchWorker>& workers) {
  json places = json::object();
  const std::string unpinned = runner::why_unpinned(world::usable_cores(), world::openmp_wishes());
  for (const runner::BenchWorker& worker : workers)
    places[worker.name] = runner::places_text({worker.place}, unpinned);
  return places;
}

std::string name_of_result(const app::MeasureRequest& request,
                           const std::vector<runner::BenchWorker>& workers) {
  if (!request.name.empty()) return request.name;
  const auto& cases = workers.front().request.cases;
  return cases.empty() ? "machine" : cases.front().specification.name;
}

store::BenchResult measure(const app::MeasureRequest& request, const app::App& app, Console& console,
                           const std::vector<runner::BenchWorker>& workers) {
  console.started();
  const BenchFolder folder(app.database);
  BenchProgressLine progress(request.quiet, console);
  store::BenchResult result;
  try {
    result = runner::run_bench(folder.path(), workers, app.stop, std::ref(progress));
  } catch (...) {
    progress.hide();
    if (app.stop.load() > 0) folder.remove();
    throw;
  }
  progress.hide();
  folder.remove();
  result.name = name_of_result(request, workers);
  result.file = request.file;
  result.created = world::now_seconds();
  result.settings = {
      {"rounds", request.rounds}, {"batches", request.batches}, {"places", places_of(workers)}};
  return result;
}

/// Opens the database with earlier measurements.
store::Store open_measurements(const app::App& app, const Console& console) {
  const std::filesystem::path& path = app.database;
  if (!std::filesystem::exists(path))
    throw Error("there is no database " + path.string() + " yet, and so no measurement; " +
                console.suggestion({"bench"}) +
                " makes the first; use --db or $ENCORE_DB for another database");
  return store::Store(path, store::OpenMode::read);
}

/// Reads the measurement from a file, or by its name from the database.
store::BenchResult earlier(const std::string& name, const app::App& app, const Console& console) {
  if (name.ends_with(".json")) return store::BenchResult::load(name);
  store::Store store = open_measurements(app, console);
  return store::read_bench(store, name);
}

/// Checks the output folder first, so that a measurement of minutes is not lost.
void require_folder(const std::string& svg) {
  if (svg.empty()) return;
  const std::filesystem::path folder = std::filesystem::absolute(svg).parent_path();
  if (!std::filesystem::is_directory(folder))
    throw app::UsageError("--svg " + svg + ": there is no folder " + folder.string());
}

/// Writes the picture of a measurement. No other code does.
void write_roofline(const analysis::BenchSummary& summary, const std::string& file) {
  const analysis::StepSummary& step = summary.steps.front();
  world::save_file(
      file, document::svg(report::draw_roofline(summary, step), "roofline of " + step.measured->name, true));
}

json to_json(const analysis::BenchChange& change) {
  const auto ratio = [](const analysis::Ratio& r) {
    return json{{"ratio", r.ratio}, {"interval", {r.interval.low, r.interval.high}}};
  };
  return {{"case", change.name},
          {"quantity", change.quantity},
          {"verdict", analysis::name_of(change.change)},
          {"seconds", ratio(change.seconds)},
          {"calibrated", ratio(change.calibrated)},
          {"share", change.share},
          {"reasons", change.reasons}};
}

json to_json(const analysis::BenchComparison& comparison, const std::string& before, double threshold) {
  json steps = json::array(), kernels = json::array();
  for (const analysis::BenchChange& change : comparison.steps) steps.push_back(to_json(change));
  for (const analysis::BenchChange& change : comparison.kernels) kernels.push_back(to_json(change));
  return {{"against", before},
          {"threshold", threshold},
          {"steps", steps},
          {"kernels", kernels},
          {"missing", comparison.missing},
          {"changed", comparison.changed},
          {"regression", comparison.regression()}};
}

/// Prints a measurement and the requested comparison. The exit code reports a regression, and gradients that
/// must be equal and are not.
int conclude(const app::BenchOutputRequest& request, Console& console, const store::BenchResult& result,
             const std::optional<store::BenchResult>& before) {
  const analysis::BenchSummary summary = analysis::summarize(result);
  const double threshold = app::threshold_of(request.threshold);
  if (!request.json) print_bench(console.out, console.terminal, result, summary);
  if (!request.svg.empty()) {
    if (summary.steps.empty())
      throw Error("--svg draws a step; " + result.name + " measured only the machine");
    write_roofline(summary, request.svg);
  }
  std::optional<analysis::BenchComparison> comparison;
  if (before) comparison = analysis::compare_benches(*before, result, threshold);
  if (request.json) {
    json all = result.to_json();
    all["summary"] = summary.to_json();
    for (const analysis::RankScaling& scaling : analysis::rank_scaling(summary))
      all["rank_scaling"].push_back(analysis::to_json(scaling));
    all["notes"] = analysis::noise_notes(result, summary);
    if (comparison) all["comparison"] = to_json(*comparison, before->name, threshold);
    console.out << all.dump(1) << '\n';
  } else if (comparison) {
    print_comparison(console.out, console.terminal, *comparison, before->name, threshold);
  }
  console.out.flush();
  const auto verdicts = analysis::bits_verdicts(summary);
  const bool broken = std::ranges::any_of(verdicts, &analysis::BitsVerdict::broken);
  return broken || (comparison && comparison->regression()) ? exit_failed : exit_done;
}

int bench_ls(const app::BenchLsRequest& request, app::App& app, Console& console) {
  store::Store store = open_measurements(app, console);
  Table table({{"NAME"}, {"FILE"}, {"HOST"}, {"STEPS", Align::right}, {"ROUNDS", Align::right}, {"WHEN"}});
  json list = json::array();
  for (const store::BenchRow& row : store::list_benches(store)) {
    table.add({row.name, row.file.empty() ? "-" : row.file, row.host, std::to_string(row.cases),
               std::to_string(row.rounds), time_text(row.created)});
    list.push_back({{"name", row.name},
                    {"file", row.file},
                    {"host", row.host},
                    {"steps", row.cases},
                    {"rounds", row.rounds},
                    {"created", row.created}});
  }
  if (request.json)
    console.out << list.dump(1) << '\n';
  else if (request.csv)
    table.print_csv(console.out);
  else if (table.empty())
    console.out << "no measurements yet; " << console.suggestion({"bench"}) << " makes the first\n";
  else
    table.print(console.out, console.terminal);
  return exit_done;
}

std::optional<store::BenchResult> compared_with(const app::BenchOutputRequest& request, const app::App& app,
                                                const Console& console) {
  if (request.against.empty()) return {};
  return earlier(request.against, app, console);
}

int bench_show(const app::BenchShowRequest& request, app::App& app, Console& console) {
  store::Store store = open_measurements(app, console);
  const store::BenchResult result = store::read_bench(store, request.name);
  return conclude(request.output, console, result, compared_with(request.output, app, console));
}

int bench(const app::MeasureRequest& request, app::App& app, Console& console) {
  require_folder(request.output.svg);
  // A wrong name is reported before the measurement.
  const std::optional<store::BenchResult> before = compared_with(request.output, app, console);
  const std::vector<runner::BenchWorker> workers = app::bench_workers(request, app);
  try {
    store::BenchResult result = measure(request, app, console, workers);
    store::Store store(app.database, store::OpenMode::create);
    result.name = store::add_bench(store, result);
    return conclude(request.output, console, result, before);
  } catch (const Error& error) {
    console.noticed(error.what());
    return app.stop.load() > 0 ? exit_interrupted : exit_failed;
  }
}

}  // namespace

std::vector<Verb> verbs_of_bench() {
  return {make_verb("bench", "", app::bench_form, bench),
          make_verb("bench ls", "", app::bench_ls_form, bench_ls),
          make_verb("bench show", "", app::bench_show_form, bench_show)};
}

}  // namespace encore::cli
