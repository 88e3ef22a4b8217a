// SPDX-License-Identifier: BSD-3-Clause
// run_bench(): starts a worker for each backend and number of threads, waits until all are prepared, and asks
// them for rounds in turn, so that two never measure at once. Samples arrive as events in spools.
// cli/bench_verb.cpp calls it. While one worker measures, no other may work. Read bench_run.hpp first.
#include "runner/bench_run.hpp"

#include <unistd.h>

#include <chrono>
#include <memory>
#include <thread>

#include <encore/error.hpp>

#include "record/spool_reader.hpp"
#include "runner/attempt_end.hpp"
#include "runner/machine_noise.hpp"

namespace encore::runner {

using nlohmann::json;

namespace {

/// A worker, and what it has reported so far.
class Measuring {
 public:
  Measuring(const BenchWorker& worker, const std::filesystem::path& folder, const std::atomic<int>& stop)
      : worker_(worker), log_(folder / "worker.log"), reader_(folder / record::spool_name(1)), stop_(stop) {
    worker.request.save(folder);
    std::vector<std::string> arguments = {"bench", "--run-folder", folder.string()};
    if (worker.place.threads > 0)
      arguments.insert(arguments.end(), {"--threads", std::to_string(worker.place.threads)});
    if (worker.place.ranks > 1)
      arguments.insert(arguments.end(), {"--ranks", std::to_string(worker.place.ranks)});
    process_.emplace(worker.program, std::move(arguments), log_, worker.place);
  }

  /// Waits for the next event of this kind. Throws Error when the worker ends before.
  template <class Kind>
  Kind wait_for() {
    for (record::SpoolRecord record;;) {
      while (reader_.next(record)) {
        if (record.kind != record::SpoolKind::event) continue;
        const record::ReadEvent read = record.event();
        if (!read.problem.empty()) throw Error(worker_.name + ": " + read.problem);
        if (!read.event) continue;
        if (const auto* wanted = std::get_if<Kind>(&*read.event)) return *wanted;
        if (const auto* ended = std::get_if<record::Ended>(&*read.event))
          throw Error(worker_.name + ": " + ended->reason);
      }
      if (stop_.load() > 0) throw Error("stopped; nothing was stored");
      if (ended_)
        throw Error(worker_.name + ": the worker ended with " + ended_->text() + " (" + log_.string() +
                    ")\n" + tail_of(log_));
      ended_ = process_->wait_for(std::chrono::milliseconds(5));  // what it wrote last is read once more
    }
  }
  void measure() { process_->send(record::ControlCommand::measure); }
  const BenchWorker& worker() const { return worker_; }

 private:
  const BenchWorker& worker_;
  std::filesystem::path log_;
  record::SpoolReader reader_;
  const std::atomic<int>& stop_;
  std::optional<WorkerProcess> process_;
  std::optional<ProcessEnd> ended_;
};

void add_samples(store::BenchCase& one, const record::Samples& samples) {
  for (const auto& [quantity, seconds] : samples) one.samples[quantity].push_back(seconds);
}

/// Returns a case for the machine itself, then the cases of the request in their order.
std::vector<store::BenchCase> make_cases(const BenchWorker& worker, const record::BenchStarted& started) {
  std::vector<store::BenchCase> cases;
  json settings = {{"backend", worker.backend}, {"threads", started.threads}};
  if (worker.place.ranks > 1) settings["ranks"] = worker.place.ranks;
  const auto add = [&](const std::string& name, bool machine, const json& of_case) {
    store::BenchCase& one = cases.emplace_back();
    one.name = name;
    one.machine = machine;
    one.settings = settings;
    one.settings.update(of_case);
    one.host = started.host.value();
    one.build = started.build.value();
    one.environment = started.numeric_environment.value();
  };
  add(worker.name, true, json::object());
  for (std::size_t k = 0; k < worker.settings.size(); ++k)
    add(worker.request.cases[k].name + ", " + worker.name, false, worker.settings[k]);
  return cases;
}

void take_round(const BenchWorker& worker, const record::BenchRound& round,
                std::vector<store::BenchCase>& cases) {
  if (round.warm_up) return;
  add_samples(cases.front(), round.machine);
  for (std::size_t k = 0; k < worker.request.cases.size(); ++k)
    add_samples(cases[k + 1], round.cases.at(worker.request.cases[k].name));
}

void take_facts(const BenchWorker& worker, const record::BenchFacts& facts,
                std::vector<store::BenchCase>& cases) {
  cases.front().facts = facts.machine.value();
  cases.front().facts["peak_bytes"] = facts.peak_bytes;
  for (std::size_t k = 0; k < worker.request.cases.size(); ++k) {
    const record::BenchCaseFacts& of_case = facts.cases.at(worker.request.cases[k].name);
    cases[k + 1].environment = of_case.environment.value();
    cases[k + 1].facts = of_case.facts.value();
  }
}

}  // namespace

store::BenchResult run_bench(const std::filesystem::path& folder, const std::vector<BenchWorker>& workers,
                             const std::atomic<int>& stop,
                             const std::function<void(const BenchProgress&)>& progress) {
  ENCORE_REQUIRE(!workers.empty(), "somebody measures");
  store::BenchResult result;
  NoiseMeter noise;
  const std::int64_t rounds = workers.front().request.rounds;
  std::vector<std::unique_ptr<Measuring>> all;
  std::vector<std::vector<store::BenchCase>> cases;
  for (std::size_t k = 0; k < workers.size(); ++k) {
    progress({workers[k].name, -1, rounds});
    all.push_back(
        std::make_unique<Measuring>(workers[k], folder / ("worker-" + std::to_string(k + 1)), stop));
    cases.push_back(make_cases(workers[k], all.back()->wait_for<record::BenchStarted>()));
  }
  noise.begin();
  for (std::int64_t round = 0; round <= rounds; ++round)
    for (std::size_t k = 0; k < all.size(); ++k) {
      const std::size_t turn = (k + static_cast<std::size_t>(round)) % all.size();
      progress({workers[turn].name, round, rounds});
      all[turn]->measure();
      take_round(workers[turn], all[turn]->wait_for<record::BenchRound>(), cases[turn]);
    }
  noise.end();
  for (std::size_t k = 0; k < all.size(); ++k)
    take_facts(workers[k], all[k]->wait_for<record::BenchFacts>(), cases[k]);
  all.clear();
  result.noise = noise.found();
  for (std::vector<store::BenchCase>& of_worker : cases)
    result.cases.insert(result.cases.end(), std::make_move_iterator(of_worker.begin()),
                        std::make_move_iterator(of_worker.end()));
  return result;
}

}  // namespace encore::runner
