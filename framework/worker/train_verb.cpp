// train: one attempt of one run, reported to its spool.
#include <csignal>
#include <fstream>
#include <iostream>
#include <optional>
#include <span>
#include <utility>

#include <encore/device.hpp>

#include "record/control_pipe.hpp"
#include "record/run_paths.hpp"
#include "train/adoption.hpp"
#include "train/session.hpp"
#include "train/spool_observer.hpp"
#include "worker/environment.hpp"
#include "worker/started_event.hpp"
#include "worker/verbs.hpp"

namespace encore {
namespace {

volatile std::sig_atomic_t stop_signal = 0;

void remember_signal(int signal) {
  stop_signal = signal;
}

/// Requests come down the control pipe or as a signal; the run is owned as long as the run folder's `lease`
/// holds our token.
class WorkerControl final : public Control {
 public:
  WorkerControl(const TrainArguments& arguments) : arguments_(arguments) {
    if (arguments.control_fd >= 0) pipe_.emplace(arguments.control_fd);
    std::signal(SIGTERM, remember_signal);
    std::signal(SIGINT, remember_signal);
    std::signal(SIGPIPE, SIG_IGN);
  }

  Request poll() override {
    if (stop_signal != 0) return Request::stop;
    if (!pipe_) return Request::none;
    if (const std::optional<ControlCommand> command = pipe_->poll())
      return *command == ControlCommand::checkpoint ? Request::checkpoint : Request::stop;
    return pipe_->parent_gone() ? Request::orphaned : Request::none;
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
  std::optional<ControlReader> pipe_;
};

int exit_code(Ending ending) {
  switch (ending) {
    case Ending::completed:
      return 0;
    case Ending::interrupted:
      return 75;
    case Ending::failed:
      return 1;
  }
  return 1;
}

Ending end(Observer& observer, Ending ending, const std::exception& error, std::optional<std::int64_t> step) {
  observer.happened(Ended{.ending = ending, .reason = error.what(), .step = step});
  return ending;
}

/// Runs `work` and makes of what it throws the last event; `step` says how far it has come.
template <class Work, class Step>
Ending reported(Observer& observer, const Work& work, const Step& step) {
  try {
    return work();
  } catch (const RecordError& error) {
    std::cerr << "encore-worker: " << error.what() << '\n';
    return end(observer, Ending::interrupted, error, step());
  } catch (const std::exception& error) {
    std::cerr << "encore-worker: " << error.what() << '\n';
    return end(observer, Ending::failed, error, step());
  }
}

void report_start(const RunParts& parts, std::span<const Measure> measures, int threads, Observer& observer) {
  observer.measures(measures);
  observer.happened(started_event(parts, threads));
  observer.happened(Logged{.text = pinning_of(threads)});
}

Ending adopt(Specification specification, const TrainArguments& arguments, const Device& device,
             Control& control, Observer& observer) {
  Adoption adoption(std::move(specification), arguments.run_folder, arguments.attempt, device);
  report_start({.registry = adoption.registry(),
                .model = adoption.model(),
                .tokenizer = adoption.tokenizer(),
                .task = adoption.task()},
               adoption.measures(), arguments.threads, observer);
  return reported(
      observer, [&] { return adoption.conclude(observer, control); }, [] { return std::int64_t{0}; });
}

Ending train(const TrainArguments& arguments, Observer& observer) {
  WorkerControl control(arguments);
  const Device device;
  Specification specification = Specification::load(arguments.run_folder);
  if (is_adoption(specification))
    return adopt(std::move(specification), arguments, device, control, observer);
  Session session(std::move(specification), arguments.run_folder, arguments.attempt, device);
  report_start({.registry = session.registry(),
                .model = session.model(),
                .tokenizer = session.tokenizer(),
                .task = session.sets().task(),
                .sets = &session.sets()},
               session.sets().measures(), arguments.threads, observer);
  for (const std::string& note : session.sets().notes()) observer.happened(Logged{.text = note});
  Trainer trainer(session.parts(observer, control,
                                {.stop_after = arguments.stop_after,
                                 .die_after = arguments.die_after,
                                 .save_at = arguments.save_at,
                                 .stop_after_epoch = arguments.stop_after_epoch,
                                 .pause_after_step = arguments.pause_after_step}));
  return reported(
      observer, [&] { return trainer.run(); }, [&] { return trainer.step(); });
}

}  // namespace

int train_verb(const TrainArguments& arguments) {
  const int attempt = static_cast<int>(arguments.attempt);
  SpoolWriter spool(arguments.run_folder / spool_name(attempt), attempt, run_of_folder(arguments.run_folder));
  SpoolObserver observer(spool);
  try {
    return exit_code(train(arguments, observer));
  } catch (const RecordError& error) {  // before the first step
    std::cerr << "encore-worker: " << error.what() << '\n';
    return exit_code(end(observer, Ending::interrupted, error, std::nullopt));
  } catch (const std::exception& error) {
    end(observer, Ending::failed, error, std::nullopt);
    throw;
  }
}

}  // namespace encore
