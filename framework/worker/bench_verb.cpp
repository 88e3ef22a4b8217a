// SPDX-License-Identifier: BSD-3-Clause
// The verb bench: measures the machine and training steps in rounds, for `exp bench` (runner/bench_run.hpp).
// With a control pipe each round waits for a command, so that several workers (other numbers of threads,
// other backends) measure in turn and never disturb each other. Rank 0 writes the measurements as events into
// the spool of the run folder; the other ranks only compute their parts. Keep the order of the events, the
// warm-up round and the rotation of the cases, or numbers of different days cannot be compared.
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <iostream>
#include <map>
#include <optional>
#include <thread>

#include <encore/device.hpp>
#include <nlohmann/json.hpp>

#include "bench/step_case.hpp"
#include "distributed/communicator.hpp"
#include "kernels/products/gemm.hpp"
#include "record/control_pipe.hpp"
#include "record/spool.hpp"
#include "worker/environment.hpp"
#include "worker/program.hpp"

namespace encore::worker {
namespace {

/// If all ranks find an error, rank 0 reports it. The other ranks wait this time before they end rank 0.
constexpr auto time_for_first_rank = std::chrono::seconds(2);

/// Waits for the commands of exp on the control pipe, if there is one.
class Turns {
 public:
  explicit Turns(int control_fd) {
    if (control_fd >= 0) pipe_.emplace(control_fd);
  }
  /// Waits until the next round may begin. Returns false if there is no further round.
  bool wait() {
    if (!pipe_) return true;
    for (;; std::this_thread::sleep_for(std::chrono::milliseconds(1))) {
      if (const std::optional<record::ControlCommand> command = pipe_->poll())
        return *command == record::ControlCommand::measure;
      if (pipe_->parent_gone()) return false;
    }
  }

 private:
  std::optional<record::ControlReader> pipe_;
};

/// Sets and tokenizer of the cases, loaded once: cases that differ only in batch size, length or precision
/// share them.
class DataOfCases {
 public:
  explicit DataOfCases(std::filesystem::path folder) : folder_(std::move(folder)) {}
  const bench::BenchData& of(const record::Specification& specification,
                             const infer::LoadedExperiment& loaded) {
    const std::string key =
        specification.config.at("data").dump() + specification.config.at("tokenizer").dump();
    const auto found = data_.find(key);
    if (found != data_.end()) return found->second;
    return data_.emplace(key, bench::load_bench_data(loaded, folder_)).first->second;
  }

 private:
  std::filesystem::path folder_;
  std::map<std::string, bench::BenchData> data_;
};

/// Returns the peak memory of this process, in bytes.
std::int64_t peak_memory() {
  std::ifstream in("/proc/self/status");
  for (std::string word; in >> word;)
    if (std::int64_t kilobytes = 0; word == "VmHWM:" && in >> kilobytes) return kilobytes * 1024;
  return 0;
}

class Bench {
 public:
  Bench(const BenchArguments& arguments, distributed::Communicator& ranks)
      : arguments_(arguments),
        ranks_(ranks),
        request_(record::BenchRequest::load(arguments.run_folder)),
        free_gemm_(kernels::make_free_gemm()) {
    if (ranks.rank() == 0) machine_.emplace(device_, request_.machine_precisions, request_.machine_sizes);
    DataOfCases data(arguments.run_folder);
    for (const record::BenchCaseRequest& request : request_.cases) {
      infer::LoadedExperiment loaded = infer::load_experiment(request.specification);
      const bench::BenchData& of_case = data.of(request.specification, loaded);
      cases_.push_back(std::make_unique<bench::StepCase>(
          request, std::move(loaded), of_case, request_.batches, request_.order_cost, device_, ranks_));
    }
  }

  /// Rank 0: waits for the commands, and writes the measurements.
  void lead(record::SpoolWriter& spool) {
    Turns turns(arguments_.control_fd);
    spool.event(started());
    // Round 0 is a warm-up: it makes primitives, touches pages and raises the clock rate; its samples are not
    // kept.
    for (std::int64_t round = 0; round <= request_.rounds; ++round) {
      record::BenchRound measured{.round = round, .warm_up = round == 0, .machine = {}};
      const bool goes_on = turns.wait();
      if (goes_on) measured.machine = machine_->measure();
      if (!is_next(goes_on)) return finish(spool, record::Ending::interrupted);
      measure_cases(round, measured);
      spool.event(measured);
    }
    spool.event(facts());
    finish(spool, record::Ending::completed);
  }

  /// Another rank: computes its part of the cases.
  void follow() {
    for (std::int64_t round = 0; round <= request_.rounds && is_next(false); ++round) {
      record::BenchRound unread;
      measure_cases(round, unread);
    }
  }

 private:
  record::BenchStarted started() const {
    record::BenchStarted started{
        .host = record::JsonText(host_description()),
        .build = record::JsonText(build_description()),
        .numeric_environment = record::JsonText(numeric_environment(device_, "", {})),
        .threads = arguments_.threads};
    for (const record::BenchCaseRequest& request : request_.cases) started.cases.push_back(request.name);
    return started;
  }

  /// Returns the decision of rank 0. The other ranks sleep meanwhile, because other workers may be measuring.
  bool is_next(bool goes_on) {
    if (ranks_.size() == 1) return goes_on;
    ranks_.wait_for_all();
    return distributed::from_first(ranks_, goes_on ? 1 : 0) == 1;
  }

  void measure_cases(std::int64_t round, record::BenchRound& measured) {
    // The order of cases changes with the round, so that no case always follows the measurement of the
    // machine.
    for (std::size_t k = 0; k < cases_.size(); ++k) {
      const std::size_t index = (k + static_cast<std::size_t>(round)) % cases_.size();
      measured.cases[request_.cases[index].name] = cases_[index]->measure(*free_gemm_);
    }
  }

  record::BenchFacts facts() const {
    record::BenchFacts facts{.machine = record::JsonText(machine_->facts()), .peak_bytes = peak_memory()};
    for (std::size_t k = 0; k < cases_.size(); ++k) {
      const bench::StepCase& one = *cases_[k];
      const record::BenchCaseRequest& request = request_.cases[k];
      facts.cases[request.name] = {
          .environment = record::JsonText(numeric_environment(
              device_, request.specification.config.at("train").at("precision").get<std::string>(),
              one.registry().plugins())),
          .facts = record::JsonText(one.facts())};
    }
    return facts;
  }

  static void finish(record::SpoolWriter& spool, record::Ending ending) {
    spool.event(record::Ended{.ending = ending});
    spool.sync();
  }

  const BenchArguments& arguments_;
  distributed::Communicator& ranks_;
  record::BenchRequest request_;
  Device device_;
  std::optional<bench::MachineBench> machine_;
  std::unique_ptr<kernels::GemmLibrary> free_gemm_;
  std::vector<std::unique_ptr<bench::StepCase>> cases_;
};

}  // namespace

int bench_verb(const BenchArguments& arguments) {
  const std::unique_ptr<distributed::Communicator> joined =
      arguments.ranks > 1 ? distributed::join_ranks(arguments.ranks)
                          : std::unique_ptr<distributed::Communicator>();
  distributed::Communicator& ranks = joined ? *joined : distributed::only_rank();
  const int attempt = static_cast<int>(arguments.attempt);
  std::optional<record::SpoolWriter> spool;
  try {
    if (ranks.rank() == 0) spool.emplace(arguments.run_folder / record::spool_name(attempt), attempt);
    Bench bench(arguments, ranks);
    if (spool)
      bench.lead(*spool);
    else
      bench.follow();
    return 0;
  } catch (const std::exception& error) {
    if (spool) {
      spool->event(record::Ended{.ending = record::Ending::failed, .reason = error.what()});
      spool->sync();
    }
    if (ranks.size() == 1) throw;
    std::cerr << "encore-worker: rank " << ranks.rank() << ": " << error.what() << '\n';
    if (!spool) std::this_thread::sleep_for(time_for_first_rank);
    ranks.end_all(1);
    return 1;
  }
}

WorkerVerbs bench_verbs() {
  return {{"bench", {[](const WorkerCall& call) {
             return bench_verb({call.run_folder(), call.whole("attempt"), call.descriptor("control-fd"),
                                call.threads, static_cast<int>(call.whole("ranks"))});
           }}}};
}

}  // namespace encore::worker
