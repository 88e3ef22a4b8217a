// SPDX-License-Identifier: BSD-3-Clause
// JobKeeper: the loop of `exp job` on the machine of a launched worker. For each order it starts the worker,
// passes on requests, reports every few seconds that it lives, records the end, and continues with the next
// order. A keeper may be killed at any moment: the files must always show what happened. Read job_keeper.hpp
// first.
#include "runner/job_keeper.hpp"

#include <chrono>
#include <csignal>
#include <thread>

#include "base/input_file.hpp"
#include "runner/attempt_end.hpp"
#include "runner/job_files.hpp"
#include "runner/spool_follower.hpp"
#include "runner/stop_request.hpp"
#include "store/store.hpp"
#include "world/atomic_file.hpp"
#include "world/lease_clock.hpp"

namespace encore::runner {

namespace {

constexpr std::size_t most_lease_bytes = 256;

using KeeperClock = std::chrono::steady_clock;

/// The time between two looks for request files. The end of a worker is noticed at once.
constexpr auto request_interval = std::chrono::milliseconds(200);
/// A worker that has lost its run has this long to report.
constexpr auto patience_without_lease = std::chrono::seconds(10);

/// Sets the value of one of the worker's options.
void set_argument(std::vector<std::string>& arguments, const std::string& option, const std::string& value) {
  for (std::size_t index = 0; index + 1 < arguments.size(); ++index)
    if (arguments[index] == option) arguments[index + 1] = value;
}

class JobKeeper {
 public:
  JobKeeper(const StoredOrder& stored, const JobSignals& signals)
      : order_(stored.order), place_(stored.place), signals_(signals) {}

  enum class Kept : std::uint8_t {
    done,       ///< the worker has done its work, now or before
    failed,     ///< it has failed, or there was no worker
    not_begun,  ///< not begun or left: the same job begins it once it is started again
  };

  Kept keep() {
    follow_successions();
    if (!owns_run()) return Kept::failed;
    const std::optional<JobReport> before = read_report(order_.run_folder, order_.attempt);
    const bool was_here = before && before->token == order_.token;
    if (was_here && (!before->problem.empty() || (before->end && before->yielded.empty()))) return Kept::done;
    if (leaves_to_scheduler()) return Kept::not_begun;
    const world::ProcessIdentity here = world::this_process();
    report_ = {.token = order_.token, .host = here.host, .pid = here.pid};
    if (requested_stop(order_.run_folder, order_.attempt) != StopWish::none || signals_.stop > 0)
      return give_up("it was asked to stop before its worker began");
    try {
      if (was_here) succeed(*before);
      beat();  // a later process then knows that a worker may be there
      worker_.emplace(order_.program, order_.arguments, order_.log, place_);
      follower_.emplace(order_.run_folder / record::spool_name(order_.attempt), observer_);
    } catch (const Error& error) {
      return give_up(error.what());
    }
    return watch();
  }

 private:
  /// It reads what its worker appends to the spool only to measure its inactivity.
  class SilentObserver final : public RunObserver {
    void happened(const record::Event&) override {}
    void noticed(const std::string&) override {}
  };

  /// A job of a scheduler that is asked to end may be started again, and does the rest then.
  bool leaves_to_scheduler() const {
    return !order_.job.empty() && (signals_.yield > 0 || signals_.stop > 0);
  }

  Kept watch() {
    while (!(report_.end =
                 worker_->wait_for(std::chrono::duration_cast<std::chrono::milliseconds>(request_interval))))
      look();
    wait_for_own_signal();
    const bool yields = leaves_to_scheduler() && !report_.end->success() && report_.silent.count() == 0;
    if (yields)
      report_.yielded = signals_.yield > 0 ? "its job came near its time limit"
                                           : "its job was asked to end (by scancel, or by preemption)";
    beat();
    return report_.end->success() ? Kept::done : yields ? Kept::not_begun : Kept::failed;
  }

  /// If the worker received the signal and ended, this process is about to.
  void wait_for_own_signal() const {
    const auto until = KeeperClock::now() + signals_.spread;
    while (!order_.job.empty() && report_.end->signal == SIGTERM && !leaves_to_scheduler() &&
           KeeperClock::now() < until)
      std::this_thread::sleep_for(request_interval);
  }

  Kept give_up(const std::string& problem) {
    report_.problem = problem;
    beat();
    return Kept::failed;
  }

  /// Switches to the newest attempt of this run: follows the files attempt-N.next.
  void follow_successions() {
    for (;;) {
      const std::optional<Succession> next = read_succession(order_.run_folder, order_.attempt);
      if (!next || next->of != order_.token) return;
      enter(*next);
    }
  }

  /// A worker of this order was started and left, by a job that was requeued or whose node died. It may still
  /// write, so another attempt with a token and a spool of its own continues in its place.
  void succeed(const JobReport& before) {
    const std::string why = before.yielded.empty() ? "its job was started again after " + before.host +
                                                         " gave no more sign of life"
                                                   : before.yielded + ", and was started again";
    enter(save_succession(order_.run_folder, order_.attempt,
                          {.of = order_.token,
                           .attempt = order_.attempt + 1,
                           .token = store::make_lease_token(order_.attempt + 1),
                           .reason = why}));
    report_.token = order_.token;
  }

  /// Switches to a new attempt: moves the lease and the order to it. It can be repeated if an earlier keeper
  /// was killed in the middle of it.
  void enter(const Succession& next) {
    const bool owned = owns_run();
    order_.attempt = next.attempt;
    order_.token = next.token;
    order_.log = order_.run_folder / log_name(next.attempt);
    set_argument(order_.arguments, "--attempt", std::to_string(next.attempt));
    set_argument(order_.arguments, "--lease", next.token);
    if (!owned) return;
    save_order(order_, place_);
    world::replace_file(order_.run_folder / store::lease_file_name, order_.token + "\n");
  }

  /// Returns whether the lease file has this attempt's token. An attempt that takes over writes its own
  /// token.
  bool owns_run() const {
    try {
      return read_file(order_.run_folder / store::lease_file_name, most_lease_bytes) == order_.token + "\n";
    } catch (const UnreadableFile&) {
      return false;
    }
  }

  void look() {
    for (const record::ControlCommand command :
         {record::ControlCommand::checkpoint, record::ControlCommand::prune})
      if (take_request(order_.run_folder, order_.attempt, command)) worker_->send(command);
    const StopWish wish = requested_stop(order_.run_folder, order_.attempt);
    if (wish != StopWish::none || signals_.stop > 0 || signals_.yield > 0) ask_to_stop();
    if (wish == StopWish::kill) end_worker();
    check_inactivity();
    // A scheduler may send its signal more than once, and kills by itself.
    if (signals_.stop > 1 && order_.job.empty()) worker_->kill();
    if (kill_at_ && KeeperClock::now() > *kill_at_) worker_->kill();
    if (KeeperClock::now() - last_beat_ < beat_interval) return;
    if (owns_run()) return beat();
    ask_to_stop();
    if (!kill_at_) kill_at_ = KeeperClock::now() + patience_without_lease;
  }

  void check_inactivity() {
    if (order_.step_timeout.count() == 0 || kill_at_) return;
    try {
      follower_->poll();
    } catch (const Error&) {
      return;  // a file system that cannot be read now says nothing about the worker
    }
    const auto passed = passed_limit(follower_->stage(), follower_->unheard(), order_.step_timeout);
    if (!passed) return;
    report_.silent = *passed;
    end_worker();
  }

  void end_worker() {
    if (kill_at_) return;
    worker_->quit();
    kill_at_ = KeeperClock::now() + last_word_patience;
  }

  void ask_to_stop() {
    if (!asked_) worker_->send(record::ControlCommand::stop);
    asked_ = true;
  }

  /// Writes the report. Errors are ignored, because a full disk must not end a training; the next report is
  /// written again.
  void beat() {
    last_beat_ = KeeperClock::now();
    ++report_.beats;
    report_.time = world::now_seconds();
    try {
      write_report(order_.run_folder, order_.attempt, report_);
    } catch (const Error&) {
      if (report_.end) throw;
    }
  }

  WorkOrder order_;
  const WorkerPlace place_;
  const JobSignals& signals_;
  JobReport report_;
  std::optional<WorkerProcess> worker_;
  SilentObserver observer_;
  std::optional<SpoolFollower> follower_;
  KeeperClock::time_point last_beat_{};
  std::optional<KeeperClock::time_point> kill_at_;
  bool asked_ = false;
};

}  // namespace

KeptJobs keep_jobs(const std::vector<std::filesystem::path>& orders, const JobSignals& signals) {
  std::vector<StoredOrder> stored;
  for (const std::filesystem::path& file : orders) stored.push_back(load_order(file));
  KeptJobs kept;
  for (const StoredOrder& order : stored) {
    const JobKeeper::Kept how = JobKeeper(order, signals).keep();
    if (how != JobKeeper::Kept::done) ++kept.unfinished;
    if (how == JobKeeper::Kept::not_begun) kept.begin_again = true;
  }
  kept.begin_again = kept.begin_again && signals.yield > 0;
  return kept;
}

}  // namespace encore::runner
