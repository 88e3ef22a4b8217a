// See job_keeper.hpp.
#include "runner/job_keeper.hpp"

#include <chrono>

#include "config/input_file.hpp"
#include "runner/job_files.hpp"
#include "runner/stop_request.hpp"
#include "store/lease_clock.hpp"

namespace encore {

namespace {

/// Written by the store (store/attempts.cpp).
constexpr const char* lease_name = "lease";
constexpr std::size_t most_lease_bytes = 256;

using KeeperClock = std::chrono::steady_clock;

/// Files are looked for so often; a worker's end is seen at once.
constexpr auto request_interval = std::chrono::milliseconds(200);
/// One that has lost its run may write its last word for so long.
constexpr auto patience_without_lease = std::chrono::seconds(10);

class JobKeeper {
 public:
  JobKeeper(const StoredOrder& stored, const std::atomic<int>& stop_requests)
      : order_(stored.order), place_(stored.place), stop_requests_(stop_requests) {
    const ProcessIdentity here = this_process();
    report_ = {.token = order_.token, .host = here.host, .pid = here.pid};
  }

  /// True where the worker has done its work.
  bool keep() {
    const std::optional<JobReport> before = read_report(order_.run_folder, order_.attempt);
    if (!owns_run()) return false;
    if (before && before->token == order_.token && (before->end || !before->problem.empty())) return true;
    if (requested_stop(order_.run_folder, order_.attempt) != StopWish::none || stop_requests_ > 0)
      return give_up("it was asked to stop before its worker began");
    try {
      worker_.emplace(order_.program, order_.arguments, order_.log, place_);
    } catch (const Error& error) {
      return give_up(error.what());
    }
    beat();
    while (!(report_.end =
                 worker_->wait_for(std::chrono::duration_cast<std::chrono::milliseconds>(request_interval))))
      look();
    beat();
    return report_.end->success();
  }

 private:
  bool give_up(const std::string& problem) {
    report_.problem = problem;
    beat();
    return false;
  }

  /// Another attempt writes its own token there.
  bool owns_run() const {
    try {
      return read_file(order_.run_folder / lease_name, most_lease_bytes) == order_.token + "\n";
    } catch (const UnreadableFile&) {
      return false;
    }
  }

  void look() {
    for (const ControlCommand command : {ControlCommand::checkpoint, ControlCommand::prune})
      if (take_request(order_.run_folder, order_.attempt, command)) worker_->send(command);
    const StopWish wish = requested_stop(order_.run_folder, order_.attempt);
    if (wish != StopWish::none || stop_requests_ > 0) ask_to_stop();
    if (wish == StopWish::kill && !kill_at_) {
      worker_->quit();
      kill_at_ = KeeperClock::now() + last_word_patience;
    }
    if (stop_requests_ > 1) worker_->kill();
    if (kill_at_ && KeeperClock::now() > *kill_at_) worker_->kill();
    if (KeeperClock::now() - last_beat_ < beat_interval) return;
    if (owns_run()) return beat();
    ask_to_stop();
    if (!kill_at_) kill_at_ = KeeperClock::now() + patience_without_lease;
  }

  void ask_to_stop() {
    if (!asked_) worker_->send(ControlCommand::stop);
    asked_ = true;
  }

  /// A full disk must not end a training: the next report says more.
  void beat() {
    last_beat_ = KeeperClock::now();
    ++report_.beats;
    report_.time = now_seconds();
    try {
      write_report(order_.run_folder, order_.attempt, report_);
    } catch (const Error&) {
      if (report_.end) throw;
    }
  }

  const WorkOrder order_;
  const WorkerPlace place_;
  const std::atomic<int>& stop_requests_;
  JobReport report_;
  std::optional<WorkerProcess> worker_;
  KeeperClock::time_point last_beat_{};
  std::optional<KeeperClock::time_point> kill_at_;
  bool asked_ = false;
};

}  // namespace

int keep_jobs(const std::vector<std::filesystem::path>& orders, const std::atomic<int>& stop_requests) {
  std::vector<StoredOrder> stored;
  for (const std::filesystem::path& file : orders) stored.push_back(load_order(file));
  int unfinished = 0;
  for (const StoredOrder& order : stored)
    if (!JobKeeper(order, stop_requests).keep()) ++unfinished;
  return unfinished;
}

}  // namespace encore
