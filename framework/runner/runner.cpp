// See runner.hpp.
#include "runner/runner.hpp"

#include <fstream>
#include <system_error>

#include "record/atomic_file.hpp"
#include "record/spool.hpp"
#include "runner/recorder.hpp"

namespace encore {

namespace {

using Clock = std::chrono::steady_clock;

/// The live line is drawn and requests are looked for this often.
constexpr auto glance = std::chrono::milliseconds(100);
/// A worker that lost its lease works for nobody: it may end by itself for so long.
constexpr auto dispossessed_patience = std::chrono::seconds(10);
constexpr std::size_t log_tail_bytes = 2000;
constexpr const char* stop_file = "stop";

std::string log_name(int attempt) {
  std::string digits = std::to_string(attempt);
  return "attempt-" + std::string(digits.size() < 4 ? 4 - digits.size() : 0, '0') + digits + ".log";
}

/// The last lines of a file, from the beginning of a line.
std::string tail_of(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  const std::string text(std::istreambuf_iterator<char>(in), {});
  if (text.size() <= log_tail_bytes) return text;
  const std::size_t begin = text.find('\n', text.size() - log_tail_bytes);
  return begin == std::string::npos ? text.substr(text.size() - log_tail_bytes) : text.substr(begin + 1);
}

/// One attempt from the taken lease to its recorded end.
class Attempt {
 public:
  Attempt(Store& store, const RunTask& task, const Lease& lease, const std::atomic<int>& stop_requests,
          RunObserver& observer)
      : store_(store),
        task_(task),
        lease_(lease),
        stop_requests_(stop_requests),
        observer_(observer),
        folder_(store.run_folder(lease.run_id)),
        log_(folder_ / log_name(lease.ordinal)),
        recorder_(store, lease_, observer),
        follower_(folder_ / spool_name(lease.ordinal), observer) {}

  RunOutcome run(const CodeState& code) {
    RunOutcome outcome;
    outcome.began = true;
    try {
      prepare(code);
      work(outcome);
      outcome.recorded = record(outcome);
    } catch (const LeaseLost& error) {
      outcome.state = RunState::lost;
      outcome.reason = error.what();
    }
    outcome.result = follower_.result();
    outcome.step = follower_.step();
    return outcome;
  }

 private:
  void prepare(const CodeState& code) {
    std::error_code ignored;
    std::filesystem::remove(folder_ / stop_file, ignored);
    task_.specification.save(folder_);
    store_.set_code(lease_, code.commit, code.diff);
    if (!task_.plugin_change.is_null()) store_.add_event(lease_, "plugin_change", task_.plugin_change);
  }

  void work(RunOutcome& outcome) {
    std::optional<WorkerProcess> worker;
    try {
      worker.emplace(task_.worker, arguments(), log_);
    } catch (const Error& error) {
      outcome.state = RunState::failed;
      outcome.reason = error.what();
      return;
    }
    const ProcessEnd end = watch(*worker);
    follower_.poll();
    judge(end, outcome);
  }

  std::vector<std::string> arguments() const {
    std::vector<std::string> list = {
        "train",   "--run-folder", folder_.string(), "--attempt", std::to_string(lease_.ordinal),
        "--lease", lease_.token};
    if (task_.threads > 0) list.insert(list.end(), {"--threads", std::to_string(task_.threads)});
    return list;
  }

  ProcessEnd watch(WorkerProcess& worker) {
    try {
      for (;;) {
        const auto end = worker.wait_for(glance);
        if (end) return *end;
        follower_.poll();
        pass_on_requests(worker);
        recorder_.merge_when_due();
      }
    } catch (const LeaseLost&) {
      worker.send(ControlCommand::stop);
      const auto deadline = Clock::now() + dispossessed_patience;
      while (!worker.wait_for(glance) && Clock::now() < deadline) {
      }
      throw;
    }
  }

  void pass_on_requests(WorkerProcess& worker) {
    const int requests = stop_requests_.load();
    if (requests >= 2 && passed_on_ < 2) {
      observer_.noticed("killing the worker; the run goes on from its last checkpoint next time");
      worker.kill();
      passed_on_ = 2;
    } else if (requests >= 1 && passed_on_ < 1) {
      observer_.noticed("stopping: the worker writes a checkpoint first (once more kills it)");
      worker.send(ControlCommand::stop);
      passed_on_ = 1;
    }
    if (!stopped_by_file_ && std::filesystem::exists(folder_ / stop_file)) {
      observer_.noticed("asked to stop by exp stop: the worker writes a checkpoint first");
      worker.send(ControlCommand::stop);
      stopped_by_file_ = true;
    }
  }

  /// What the worker's own last word and its exit say together.
  void judge(const ProcessEnd& end, RunOutcome& outcome) const {
    const auto& finished = follower_.finished();
    if (!finished) {
      // A signal or a full disk leaves a run that can go on; an exit before the first word is a worker that
      // cannot.
      const bool never_began = end.signal == 0 && end.exit_code != 0 && follower_.step() == 0;
      outcome.state = never_began ? RunState::failed : RunState::lost;
      outcome.reason = "the worker ended with " + end.text() + " and without a last word";
      outcome.log_tail = tail_of(log_);
      if (passed_on_ == 0) return;
      outcome.state = RunState::interrupted;
      outcome.reason = "killed while it was asked to stop";
      return;
    }
    outcome.reason = finished->reason;
    if (finished->state == "completed") {
      outcome.state = RunState::completed;
    } else if (finished->state == "failed") {
      outcome.state = RunState::failed;
      outcome.log_tail = tail_of(log_);
    } else {
      outcome.state = stopped_by_file_ && passed_on_ == 0 ? RunState::stopped : RunState::interrupted;
    }
  }

  bool record(RunOutcome& outcome) {
    try {
      return recorder_.finish(outcome.state, outcome.reason, stop_requests_);
    } catch (const LeaseLost&) {
      throw;
    } catch (const Error& error) {
      // Its spool is not whole, so that it cannot be called completed.
      outcome.state = RunState::lost;
      outcome.reason = error.what();
      return recorder_.finish(outcome.state, outcome.reason, stop_requests_);
    }
  }

  Store& store_;
  const RunTask& task_;
  const Lease lease_;
  const std::atomic<int>& stop_requests_;
  RunObserver& observer_;
  std::filesystem::path folder_;
  std::filesystem::path log_;
  Recorder recorder_;
  SpoolFollower follower_;
  int passed_on_ = 0;  ///< of the stop requests
  bool stopped_by_file_ = false;
};

}  // namespace

void request_stop(const std::filesystem::path& run_folder) {
  save_file(run_folder / stop_file, "stop\n");
}

RunOutcome Runner::run(const RunTask& task, RunObserver& observer) {
  const std::optional<Lease> lease = store_.begin_attempt(task.run);
  if (!lease) {
    RunOutcome outcome;
    const RunRow row = store_.read_run(task.run);
    outcome.state = row.state;
    outcome.reason = row.reason;
    return outcome;
  }
  return Attempt(store_, task, *lease, stop_requests_, observer).run(code_);
}

}  // namespace encore
