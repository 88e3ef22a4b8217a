// SPDX-License-Identifier: BSD-3-Clause
// The verb train: runs one attempt of one run and reports it to the spool in the run's folder. exp starts it
// (runner/worker.hpp) with a lease and a control pipe, and decides by the exit code and the last event how
// the attempt ended, so both must stay. Read next: train/session.hpp, train/trainer.hpp.
#include <csignal>
#include <fstream>
#include <iostream>
#include <optional>
#include <span>
#include <thread>
#include <utility>

#include <encore/device.hpp>
#include <nlohmann/json.hpp>

#include "apply/application_run.hpp"
#include "distributed/communicator.hpp"
#include "record/control_pipe.hpp"
#include "record/run_paths.hpp"
#include "record/signal_stack.hpp"
#include "record/thread_adaptation.hpp"
#include "train/adaptive_threads.hpp"
#include "train/pretrained_run.hpp"
#include "train/ranks.hpp"
#include "train/session.hpp"
#include "train/spool_observer.hpp"
#include "worker/environment.hpp"
#include "worker/started_event.hpp"
#include "worker/verbs.hpp"

namespace encore::worker {
namespace {

volatile std::sig_atomic_t stop_signal = 0;

void remember_signal(int signal) {
  stop_signal = signal;
}

/// Requests come through the control pipe or as a signal. The worker owns the run as long as the file `lease`
/// in the run's folder holds the token that it was started with.
class WorkerControl final : public train::Control {
 public:
  WorkerControl(const TrainArguments& arguments) : arguments_(arguments) {
    if (arguments.control_fd >= 0) pipe_.emplace(arguments.control_fd);
    record::handle_on_signal_stack(SIGTERM, remember_signal);
    record::handle_on_signal_stack(SIGINT, remember_signal);
    std::signal(SIGPIPE, SIG_IGN);
  }

  train::Request poll() override {
    if (stop_signal != 0) return train::Request::stop;
    if (!pipe_) return train::Request::none;
    if (const std::optional<record::ControlCommand> command = pipe_->poll())
      return *command == record::ControlCommand::checkpoint ? train::Request::checkpoint
                                                            : train::Request::stop;
    return pipe_->parent_gone() ? train::Request::orphaned : train::Request::none;
  }

  std::string why_not_owner() override {
    if (arguments_.lease.empty()) return "";
    std::ifstream in(arguments_.run_folder / "lease");
    if (!in)
      return "run folder " + arguments_.run_folder.string() +
             ", or its file lease, was moved or removed while the run was trained";
    std::string token;
    if (in >> token && token == arguments_.lease) return "";
    return "another attempt has taken over run folder " + arguments_.run_folder.string();
  }

 private:
  const TrainArguments& arguments_;
  std::optional<record::ControlReader> pipe_;
};

int exit_code(record::Ending ending) {
  switch (ending) {
    case record::Ending::completed:
      return 0;
    case record::Ending::interrupted:
      return 75;
    case record::Ending::failed:
      return 1;
  }
  return 1;
}

record::Ending report_end(train::Observer& observer, record::Ending ending, const std::exception& error,
                          std::optional<std::int64_t> step) {
  observer.happened(record::Ended{.ending = ending, .reason = error.what(), .step = step});
  return ending;
}

/// If all ranks find an error, rank 0 reports it. The other ranks wait this time before they end rank 0.
constexpr auto time_for_last_word = std::chrono::seconds(2);

/// Ends the other ranks after an error on this one, because they would wait for it forever.
void end_others(distributed::Communicator& ranks, record::Ending ending) {
  if (ranks.size() == 1) return;
  if (ranks.rank() != 0) std::this_thread::sleep_for(time_for_last_word);
  ranks.end_all(exit_code(ending));
}

void print_error(const distributed::Communicator& ranks, const std::exception& error) {
  const std::string rank = ranks.size() > 1 ? "rank " + std::to_string(ranks.rank()) + ": " : "";
  std::cerr << "encore-worker: " + rank + error.what() + "\n";
}

/// Runs `work` and reports its exception as the last event; `step` returns the number of finished steps.
template <class Work, class Step>
record::Ending reported(distributed::Communicator& ranks, train::Observer& observer, const Work& work,
                        const Step& step) {
  record::Ending ending = record::Ending::failed;
  try {
    return work();
  } catch (const train::RecordError& error) {
    print_error(ranks, error);
    ending = report_end(observer, record::Ending::interrupted, error, step());
  } catch (const std::exception& error) {
    print_error(ranks, error);
    ending = report_end(observer, record::Ending::failed, error, step());
  }
  end_others(ranks, ending);
  return ending;
}

void report_start(const RunParts& parts, std::span<const Measure> measures, int threads,
                  distributed::Communicator& ranks, train::Observer& observer) {
  const record::Started started = started_event(parts, threads, ranks);
  observer.measures(measures);
  observer.happened(started);
  observer.happened(record::Logged{.text = pinning_of(threads)});
  if (ranks.size() > 1)
    observer.happened(record::Logged{.text = std::to_string(ranks.size()) + " ranks over " + ranks.library() +
                                             "; rank 0 has " +
                                             std::to_string(parts.model.parameters().owned().size()) +
                                             " elements of each optimizer state"});
}

record::Ending conclude_pretrained(record::Specification specification, const TrainArguments& arguments,
                                   const Device& device, train::Control& control, train::Observer& observer) {
  train::PretrainedRun run(std::move(specification), arguments.run_folder, arguments.attempt, device);
  report_start(
      {.registry = run.registry(), .model = run.model(), .tokenizer = run.tokenizer(), .task = run.task()},
      run.measures(), arguments.threads, distributed::only_rank(), observer);
  return reported(
      distributed::only_rank(), observer, [&] { return run.conclude(observer, control); },
      [] { return std::int64_t{0}; });
}

record::Ending conclude_application(record::Specification specification, const TrainArguments& arguments,
                                    const Device& device, train::Control& control,
                                    train::Observer& observer) {
  apply::ApplicationRun run(std::move(specification), arguments.run_folder, arguments.attempt, device);
  observer.measures(run.application().measures());
  observer.happened(started_event(run, device, arguments.threads));
  return reported(
      distributed::only_rank(), observer, [&] { return run.conclude(observer, control); },
      [] { return std::int64_t{0}; });
}

/// Makes the session. Rank 0 does so first: it writes the vocabulary and the cache, which the other ranks
/// then read.
std::unique_ptr<train::Session> make_session(record::Specification specification,
                                             const TrainArguments& arguments, const Device& device,
                                             distributed::Communicator& ranks) {
  if (ranks.rank() != 0) ranks.wait_for_all();
  auto session =
      std::make_unique<train::Session>(std::move(specification), arguments.run_folder, arguments.attempt,
                                       device, tasks::TokenCache::standard(), ranks);
  if (ranks.rank() == 0) ranks.wait_for_all();
  const nlohmann::json environment =
      numeric_environment(device, name_of(session->model().precision()), session->registry().plugins());
  train::require_equal_texts(ranks, "the numeric environment", environment.dump());
  return session;
}

record::Ending train(const TrainArguments& arguments, distributed::Communicator& ranks,
                     train::Control& control, train::Observer& observer) {
  const Device device;
  // Starts to sample before the session is made, so that at the first step the load of the machine is known.
  std::optional<train::AdaptiveThreads> adaptive;
  const record::ThreadAdaptation adaptation = record::thread_adaptation();
  if (adaptation != record::ThreadAdaptation::fixed && memory::host_reaches_device() && arguments.threads > 1)
    adaptive.emplace(device, observer, adaptation == record::ThreadAdaptation::threads_and_pins);
  record::Specification specification = record::Specification::load(arguments.run_folder);
  if (record::is_application(specification)) {
    if (ranks.size() > 1) throw Error("an application trains nothing that ranks could share");
    return conclude_application(std::move(specification), arguments, device, control, observer);
  }
  if (record::trains_nothing(specification)) {
    if (ranks.size() > 1) throw Error("a run of no epoch trains nothing that ranks could share");
    return conclude_pretrained(std::move(specification), arguments, device, control, observer);
  }
  const std::unique_ptr<train::Session> session =
      make_session(std::move(specification), arguments, device, ranks);
  train::TrainerParts parts = session->parts(observer, control,
                                             {.stop_after = arguments.stop_after,
                                              .die_after = arguments.die_after,
                                              .save_at = arguments.save_at,
                                              .stop_after_epoch = arguments.stop_after_epoch,
                                              .pause_after_step = arguments.pause_after_step});
  if (adaptive) parts.between_steps = [&adaptive] { adaptive->between_steps(); };
  train::Trainer trainer(parts);
  report_start({.registry = session->registry(),
                .model = session->model(),
                .tokenizer = session->tokenizer(),
                .task = session->sets().task(),
                .sets = &session->sets()},
               session->sets().measures(), arguments.threads, ranks, observer);
  for (const std::string& note : session->sets().notes()) observer.happened(record::Logged{.text = note});
  return reported(
      ranks, observer, [&] { return trainer.run(); }, [&] { return trainer.step(); });
}

/// Runs a rank other than rank 0, which alone writes files and reports the end.
int follow(const TrainArguments& arguments, distributed::Communicator& ranks) {
  train::SilentObserver observer;
  train::SharedControl control(ranks, nullptr);
  try {
    train(arguments, ranks, control, observer);
  } catch (const std::exception& error) {
    print_error(ranks, error);
    end_others(ranks, record::Ending::failed);
  }
  return 0;
}

}  // namespace

int train_verb(const TrainArguments& arguments) {
  const std::unique_ptr<distributed::Communicator> joined =
      arguments.ranks > 1 ? distributed::join_ranks(arguments.ranks)
                          : std::unique_ptr<distributed::Communicator>();
  distributed::Communicator& ranks = joined ? *joined : distributed::only_rank();
  if (ranks.rank() != 0) return follow(arguments, ranks);

  const int attempt = static_cast<int>(arguments.attempt);
  record::SpoolWriter spool(arguments.run_folder / record::spool_name(attempt), attempt,
                            record::run_of_folder(arguments.run_folder));
  train::SpoolObserver observer(spool);
  WorkerControl control(arguments);
  train::SharedControl shared(ranks, &control);
  try {
    return exit_code(train(arguments, ranks, shared, observer));
  } catch (const train::RecordError& error) {  // an error before the first step
    print_error(ranks, error);
    const record::Ending ending = report_end(observer, record::Ending::interrupted, error, std::nullopt);
    end_others(ranks, ending);
    return exit_code(ending);
  } catch (const std::exception& error) {
    report_end(observer, record::Ending::failed, error, std::nullopt);
    if (ranks.size() > 1) print_error(ranks, error);
    end_others(ranks, record::Ending::failed);
    throw;
  }
}

}  // namespace encore::worker
