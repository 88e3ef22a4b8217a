// bench: what this machine can do, what a step of an experiment makes of it, and what has changed since an
// earlier measurement. The flow: bench_workers -> run_bench -> stored -> summarized -> printed, compared.
#include <stdlib.h>

#include <iostream>

#include "analysis/rank_scaling.hpp"
#include "cli/access.hpp"
#include "cli/bench_cases.hpp"
#include "cli/bench_text.hpp"
#include "cli/components.hpp"
#include "cli/format.hpp"
#include "cli/stop_requests.hpp"
#include "cli/verbs.hpp"
#include "report/roofline.hpp"
#include "runner/places.hpp"
#include "store/benches.hpp"
#include "world/atomic_file.hpp"

namespace encore {

using nlohmann::json;

namespace {

/// Beside the folders of the runs, and gone again when all went well.
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

/// On a terminal one line that changes, elsewhere a line for each round.
class BenchProgressLine {
 public:
  explicit BenchProgressLine(bool quiet) : quiet_(quiet), lines_(stderr, terminal_of(stderr)) {}
  void operator()(const BenchProgress& progress) {
    if (quiet_) return;
    const std::string text = progress.round < 0    ? "setting up"
                             : progress.round == 0 ? "warming up"
                                                   : "round " + std::to_string(progress.round) + " of " +
                                                         std::to_string(progress.rounds);
    if (lines_.terminal().live) {
      lines_.set(0, text + "  " + progress.worker);
      lines_.refresh();
    } else {
      lines_.print(clock_text(now()) + " " + text + "  " + progress.worker);
    }
  }
  void hide() { lines_.hide(); }

 private:
  bool quiet_;
  LiveLines lines_;
};

json places_of(const std::vector<BenchWorker>& workers) {
  json places = json::object();
  const std::string unpinned = why_unpinned(usable_cores(), openmp_wishes());
  for (const BenchWorker& worker : workers) places[worker.name] = places_text({worker.place}, unpinned);
  return places;
}

std::string name_of_result(const CommandLine& line, const std::vector<BenchWorker>& workers) {
  if (line.has("name")) return line.text("name");
  const auto& cases = workers.front().request.cases;
  return cases.empty() ? "machine" : cases.front().specification.name;
}

BenchResult measure(const CommandLine& line, const std::vector<BenchWorker>& workers) {
  listen_for_stop_requests();
  const BenchFolder folder(line.database());
  BenchProgressLine progress(line.flag("quiet"));
  BenchResult result;
  try {
    result = run_bench(folder.path(), workers, stop_requests(), std::ref(progress));
  } catch (...) {
    progress.hide();
    if (stop_requests().load() > 0) folder.remove();
    throw;
  }
  progress.hide();
  folder.remove();
  result.name = name_of_result(line, workers);
  result.file = line.text("file");
  result.created = now();
  result.settings = {
      {"rounds", *line.step("rounds")}, {"batches", *line.step("batches")}, {"places", places_of(workers)}};
  return result;
}

/// The database with earlier measurements.
Store open_measurements(const CommandLine& line) {
  const std::filesystem::path path = line.database();
  if (!std::filesystem::exists(path))
    throw Error("there is no database " + path.string() + " yet, so there are no measurements; " +
                suggestion(line, {"bench"}) + " makes the first, --db or $ENCORE_DB names another");
  return Store(path, OpenMode::read);
}

/// A file where one is named, else what the database knows by that name.
BenchResult earlier(const CommandLine& line) {
  const std::string name = line.text("against");
  if (name.ends_with(".json")) return BenchResult::load(name);
  Store store = open_measurements(line);
  return read_bench(store, name);
}

/// What is only about a step, or would fail after minutes of measuring, is refused first.
void require_sensible(const CommandLine& line) {
  threshold_of(line.text("threshold"));
  if (!line.has("file"))
    for (const char* option : {"set", "ranks", "precision", "batch-size", "length", "against", "svg"})
      if (line.has(option))
        throw UsageError("--" + std::string(option) + " is about a step; name an experiment file");
  if (!line.has("file") && line.flag("order-cost"))
    throw UsageError("--order-cost is about a step; name an experiment file");
  if (!line.has("svg")) return;
  const std::filesystem::path folder = std::filesystem::absolute(line.text("svg")).parent_path();
  if (!std::filesystem::is_directory(folder))
    throw UsageError("--svg " + line.text("svg") + ": there is no folder " + folder.string());
}

/// The only place where a measurement becomes a picture.
void write_roofline(const BenchSummary& summary, const std::string& file) {
  const StepSummary& step = summary.steps.front();
  save_file(file, svg(draw_roofline(summary, step), "roofline of " + step.measured->name, true));
}

json to_json(const BenchChange& change) {
  const auto ratio = [](const Ratio& r) {
    return json{{"ratio", r.ratio}, {"interval", {r.interval.low, r.interval.high}}};
  };
  return {{"case", change.name},
          {"quantity", change.quantity},
          {"verdict", name_of(change.change)},
          {"seconds", ratio(change.seconds)},
          {"calibrated", ratio(change.calibrated)},
          {"share", change.share},
          {"reasons", change.reasons}};
}

json to_json(const BenchComparison& comparison, const std::string& before, double threshold) {
  json steps = json::array(), kernels = json::array();
  for (const BenchChange& change : comparison.steps) steps.push_back(to_json(change));
  for (const BenchChange& change : comparison.kernels) kernels.push_back(to_json(change));
  return {{"against", before},
          {"threshold", threshold},
          {"steps", steps},
          {"kernels", kernels},
          {"missing", comparison.missing},
          {"changed", comparison.changed},
          {"regression", comparison.regression()}};
}

/// Prints a measurement, and its comparison where one is asked for. The exit code says regression.
int conclude(const CommandLine& line, const BenchResult& result, const std::optional<BenchResult>& before) {
  const BenchSummary summary = summarize(result);
  const double threshold = threshold_of(line.text("threshold"));
  const Terminal terminal = terminal_of(stdout);
  if (!line.flag("json")) print_bench(std::cout, terminal, result, summary);
  if (line.has("svg")) {
    if (summary.steps.empty())
      throw Error("--svg draws a step; " + result.name + " measured the machine alone");
    write_roofline(summary, line.text("svg"));
  }
  std::optional<BenchComparison> comparison;
  if (before) comparison = compare_benches(*before, result, threshold);
  if (line.flag("json")) {
    json all = result.to_json();
    all["summary"] = summary.to_json();
    for (const RankScaling& scaling : rank_scaling(summary)) all["rank_scaling"].push_back(to_json(scaling));
    all["notes"] = noise_notes(result, summary);
    if (comparison) all["comparison"] = to_json(*comparison, before->name, threshold);
    std::cout << all.dump(1) << '\n';
  } else if (comparison) {
    print_comparison(std::cout, terminal, *comparison, before->name, threshold);
  }
  std::cout.flush();
  return comparison && comparison->regression() ? exit_failed : exit_done;
}

}  // namespace

int bench_ls_in_component(const Arguments& arguments) {
  CommandLine line = make_bench_ls_line();
  if (!line.parse(arguments)) return exit_done;
  Store store = open_measurements(line);
  Table table({{"NAME"}, {"FILE"}, {"HOST"}, {"STEPS", Align::right}, {"ROUNDS", Align::right}, {"WHEN"}});
  json list = json::array();
  for (const BenchRow& row : list_benches(store)) {
    table.add({row.name, row.file.empty() ? "-" : row.file, row.host, std::to_string(row.cases),
               std::to_string(row.rounds), time_text(row.created)});
    list.push_back({{"name", row.name},
                    {"file", row.file},
                    {"host", row.host},
                    {"steps", row.cases},
                    {"rounds", row.rounds},
                    {"created", row.created}});
  }
  if (line.flag("json"))
    std::cout << list.dump(1) << '\n';
  else if (table.empty())
    std::cout << "no measurements yet; " << suggestion(line, {"bench"}) << " makes the first\n";
  else
    table.print(std::cout, terminal_of(stdout));
  return exit_done;
}

int bench_show_in_component(const Arguments& arguments) {
  CommandLine line = make_bench_show_line();
  if (!line.parse(arguments)) return exit_done;
  const std::string name = line.required("name", "the name of a measurement");
  Store store = open_measurements(line);
  const BenchResult result = read_bench(store, name);
  return conclude(line, result, line.has("against") ? std::optional(earlier(line)) : std::nullopt);
}

int bench_in_component(const Arguments& arguments) {
  CommandLine line = make_bench_line();
  if (!line.parse(arguments)) return exit_done;
  require_sensible(line);
  std::optional<BenchResult> before;
  if (line.has("against")) before = earlier(line);  // a wrong name is told at once
  const std::vector<BenchWorker> workers = bench_workers(line);
  try {
    BenchResult result = measure(line, workers);
    Store store(line.database(), OpenMode::create);
    result.name = add_bench(store, result);
    return conclude(line, result, before);
  } catch (const Error& error) {
    std::cerr << "exp: " << error.what() << '\n';
    return stop_requests().load() > 0 ? exit_interrupted : exit_failed;
  }
}

}  // namespace encore
