// SPDX-License-Identifier: BSD-3-Clause
// bench_workers(): makes the cases that `exp bench` measures, all combinations of the lists in the request,
// and rejects combinations that cannot be measured before anything starts. cli/bench_verb.cpp calls it and
// gives the workers to runner/bench_run.hpp. The names of the cases are stored with the measurement, and `exp
// bench
// --against` finds the cases of an earlier one by them, so they must not change. Read next:
// bench_requests.hpp.
#include "app/bench_requests.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <set>

#include "base/nearest.hpp"
#include "runner/check.hpp"
#include "runner/places.hpp"
#include "runner/programs.hpp"

namespace encore::app {

namespace {

constexpr int most_ranks = 4096;
const std::vector<std::string> machine_precisions = {"float32", "bfloat16"};
const std::vector<std::int64_t> host_sizes = {256, 512, 1024, 2048};
const std::vector<std::int64_t> device_sizes = {512, 1024, 2048, 4096, 8192};

std::vector<std::string> parts_of(const std::string& list, const std::string& option) {
  std::vector<std::string> parts;
  for (std::size_t begin = 0; !list.empty();) {
    const std::size_t end = list.find(',', begin);
    parts.push_back(list.substr(begin, end - begin));
    if (parts.back().empty())
      throw UsageError("--" + option + " \"" + list + "\" has an empty part; separate values by commas");
    if (std::count(parts.begin(), parts.end(), parts.back()) > 1)
      throw UsageError("--" + option + " \"" + list + "\": " + parts.back() + " is given twice");
    if (end == std::string::npos) break;
    begin = end + 1;
  }
  return parts;
}

/// Parses a list such as "1,2,4" of numbers from 1 on. Throws UsageError that names the option.
std::vector<std::int64_t> number_list(const std::string& list, const std::string& option) {
  constexpr std::int64_t least = 1;
  std::vector<std::int64_t> numbers;
  for (const std::string& part : parts_of(list, option)) {
    std::int64_t number = 0;
    const auto [end, failure] = std::from_chars(part.data(), part.data() + part.size(), number);
    if (failure != std::errc() || end != part.data() + part.size() || number < least)
      throw UsageError("--" + option + " \"" + part + "\": expected a whole number of at least " +
                       std::to_string(least));
    numbers.push_back(number);
  }
  return numbers;
}

/// One configuration of a step, with its name.
struct Case {
  record::BenchCaseRequest request;
  nlohmann::json settings;
};

/// Returns the run of the file that is measured. Runs that differ only in the seed count as one; throws
/// UsageError if the file has several others.
record::Specification the_run(const PlannedRuns& planned) {
  std::set<std::string> groups;
  for (const PlannedRun& run : planned.runs) groups.insert(run.specification.group);
  if (groups.size() > 1)
    throw UsageError(
        planned.file.string() + " is a sweep of " + std::to_string(groups.size()) +
        " different experiments, but bench measures one: remove [sweep], or measure its base file with -S");
  const record::Specification& specification = planned.runs.front().specification;
  if (record::is_application(specification))
    throw UsageError(
        planned.file.string() +
        " describes an application, but bench measures trainings: measure the experiments of the "
        "models that its steps ask");
  return specification;
}

void require_length(const record::Specification& specification, std::int64_t length) {
  if (length == 0) return;
  const nlohmann::json& limit = specification.config.at("data").at("max_length");
  if (!limit.is_number())
    throw UsageError("--length needs a number in data.max_length, which is " + limit.dump() +
                     "; add -S data.max_length=" + std::to_string(length));
  const auto most = limit.get<std::int64_t>();
  if (length > most)
    throw UsageError("--length " + std::to_string(length) + " is greater than data.max_length = " +
                     std::to_string(most) + "; add -S data.max_length=" + std::to_string(length));
}

/// Rejects options that measure a model with one input text, if the model reads two.
void require_one_text(const MeasureRequest& request, const record::Specification& specification) {
  if (!specification.config.at("model").contains("decoder")) return;
  const std::string reads_two = ", but a model with [model.decoder] reads two; remove the option";
  if (!request.length.empty()) throw UsageError("--length cuts sequences of one text" + reads_two);
  if (request.order_cost) throw UsageError("--order-cost times sums over the rows of one text" + reads_two);
}

Case make_case(const record::Specification& specification, std::int64_t length) {
  const nlohmann::json& train = specification.config.at("train");
  const bool by_tokens = train.contains("batch_tokens");
  const char* size = by_tokens ? "batch_tokens" : "batch_size";
  Case one;
  one.settings = {{"precision", train.at("precision")}, {size, train.at(size)}, {"length", length}};
  one.request.name = train.at("precision").get<std::string>() + ", batch " + train.at(size).dump() +
                     (by_tokens ? " tokens" : "") + (length > 0 ? ", length " + std::to_string(length) : "");
  one.request.length = length;
  one.request.specification = specification;
  return one;
}

/// Returns all combinations of precision, batch size and length for one backend. With several ranks it adds
/// cases whose batch is multiplied by the ranks, so that each rank computes the batch of one process.
std::vector<Case> cases_on(const MeasureRequest& request, const App& app, const std::string& backend,
                           int ranks) {
  std::vector<std::string> precisions = parts_of(request.precision, "precision");
  std::vector<std::int64_t> sizes = number_list(request.batch_size, "batch-size");
  std::vector<std::int64_t> lengths = number_list(request.length, "length");
  if (precisions.empty()) precisions = {""};
  if (sizes.empty()) sizes = {0};
  if (lengths.empty()) lengths = {0};
  std::vector<Case> cases;
  std::filesystem::path worker;
  const auto add = [&](const std::vector<std::string>& more) {
    const PlannedRuns planned = read_own_plan(
        PlanRequest{.file = request.file, .set = request.set, .backend = {{}, request.plugin_path}}, app,
        backend, more);
    worker = planned.worker;
    const record::Specification specification = the_run(planned);
    if (ranks > 1) require_ranks_divide(ranks, specification);
    require_one_text(request, specification);
    for (const std::int64_t length : lengths) {
      require_length(specification, length);
      Case one = make_case(specification, length);
      const auto same = [&](const Case& other) { return other.request.name == one.request.name; };
      if (std::ranges::none_of(cases, same)) cases.push_back(std::move(one));
    }
    return specification.config.at("train");
  };
  for (const std::string& precision : precisions)
    for (const std::int64_t size : sizes) {
      std::vector<std::string> more;
      if (!precision.empty()) more.push_back("train.precision=" + precision);
      if (size > 0) more.push_back("train.batch_size=" + std::to_string(size));
      const nlohmann::json train = add(more);
      if (ranks == 1) continue;
      const char* name = train.contains("batch_tokens") ? "batch_tokens" : "batch_size";
      more.push_back(std::string("train.") + name + "=" +
                     std::to_string(ranks * train.at(name).get<std::int64_t>()));
      add(more);
    }
  std::vector<const record::Specification*> specifications;
  for (const Case& one : cases) specifications.push_back(&one.request.specification);
  std::vector<config::Problem> problems = runner::check_with_worker(worker, specifications);
  if (!problems.empty()) throw config::ConfigErrors(std::move(problems));
  return cases;
}

std::string worker_name(const std::string& backend, int threads, int ranks) {
  if (backend != "openmp") return backend;
  return backend + ", " + std::to_string(threads) + (threads == 1 ? " thread" : " threads") +
         (ranks == 1 ? "" : ", " + std::to_string(ranks) + " ranks");
}

/// Returns --ranks, or {1} without it. Checks everything that is known before a file is read.
std::vector<int> rank_list(const MeasureRequest& request) {
  std::vector<int> ranks;
  for (const std::int64_t number : number_list(request.ranks, "ranks")) {
    if (number > most_ranks)
      throw UsageError("--ranks " + std::to_string(number) + " is too large: expected at most " +
                       std::to_string(most_ranks));
    ranks.push_back(static_cast<int>(number));
  }
  const bool several = std::ranges::any_of(ranks, [](int number) { return number > 1; });
  if (request.mpirun && !several)
    throw UsageError("--mpirun needs --ranks, the numbers of processes, such as --ranks 1,2");
  if (several && request.order_cost)
    throw UsageError("--order-cost measures the sums of one process; remove it, or remove --ranks");
  return ranks.empty() ? std::vector<int>{1} : ranks;
}

}  // namespace

std::vector<runner::BenchWorker> bench_workers(const MeasureRequest& request, const App& app) {
  const runner::Programs programs = runner::installed_programs();
  std::vector<std::string> backends = parts_of(request.backend, "backend");
  if (backends.empty()) backends = {backend_of(std::nullopt, programs)};
  std::vector<std::int64_t> threads = number_list(request.threads, "threads");
  if (threads.empty()) threads = {0};

  std::vector<runner::BenchWorker> workers;
  const std::vector<int> wanted_ranks = rank_list(request);
  for (const std::string& backend : backends)
    for (const int ranks : wanted_ranks) {
      const std::filesystem::path program = runner::worker_program(programs, backend);
      runner::require_component(programs, backend, "encore-worker-bench");
      require_rank_backend(ranks, backend);
      const std::vector<Case> cases =
          !request.file.empty() ? cases_on(request, app, backend, ranks) : std::vector<Case>();
      const RankRequest wanted{.ranks = ranks, .mpirun = request.mpirun};
      if (ranks > 1) require_rank_programs(wanted, false, program);
      std::vector<std::string> precisions = machine_precisions;
      for (const Case& one : cases) {
        const std::string precision = one.settings.at("precision").get<std::string>();
        if (std::find(precisions.begin(), precisions.end(), precision) == precisions.end())
          precisions.push_back(precision);
      }
      for (const std::int64_t number : backend == "openmp" ? threads : std::vector<std::int64_t>{0}) {
        runner::BenchWorker worker;
        worker.backend = backend;
        worker.program = program;
        const auto places = runner::make_places(world::usable_cores(), {.workers = 1,
                                                                        .threads = static_cast<int>(number),
                                                                        .wishes = world::openmp_wishes(),
                                                                        .backend = backend,
                                                                        .ranks = ranks});
        worker.place = places.front();
        worker.place.rank_launcher = rank_launcher(wanted, worker.place.threads);
        worker.name = worker_name(backend, worker.place.threads, ranks);
        worker.request.rounds = request.rounds;
        worker.request.batches = request.batches;
        worker.request.order_cost = request.order_cost;
        worker.request.machine_precisions = precisions;
        worker.request.machine_sizes = runner::computes_on_host(backend) ? host_sizes : device_sizes;
        for (const Case& one : cases) {
          worker.request.cases.push_back(one.request);
          worker.settings.push_back(one.settings);
        }
        workers.push_back(std::move(worker));
      }
    }
  return workers;
}

}  // namespace encore::app
