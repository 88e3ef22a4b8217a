// SPDX-License-Identifier: BSD-3-Clause
// CommandLauncher: fills {host} and {command} into the launcher's command, starts it, and returns a Worker
// that reads the keeper's files. The runner polls that Worker; the command itself (ssh) may end earlier or
// later than the worker. Users write these commands into scripts, so {host} and {command} keep their meaning.
// Read launched_worker.hpp first.
#include "runner/launched_worker.hpp"

#include <algorithm>
#include <sstream>

#include "base/shell_word.hpp"
#include "runner/attempt_end.hpp"
#include "runner/job_files.hpp"
#include "runner/stop_request.hpp"

namespace encore::runner {

namespace {

using LaunchClock = std::chrono::steady_clock;

/// A file that another machine wrote before its command ended may appear this much later.
constexpr auto report_patience = std::chrono::seconds(20);
/// The time between two checks for reports. The spool is read more often.
constexpr auto look_interval = std::chrono::milliseconds(250);

class LaunchedWorker final : public Worker {
 public:
  LaunchedWorker(const WorkOrder& order, const std::string& host, const std::string& command)
      : folder_(order.run_folder),
        log_(order.log),
        attempt_(order.attempt),
        token_(order.token),
        host_(host),
        command_(start_detached("/bin/sh", {"-c", command}, order.log)) {}

  std::optional<WorkerEnd> end() override {
    if (end_ || LaunchClock::now() - looked_ < look_interval) return end_;
    looked_ = LaunchClock::now();
    const std::optional<JobReport> report = read_report(folder_, attempt_);
    if (report && report->token == token_) {
      if (report->end)
        end_ = end_of(*report);
      else if (!report->problem.empty())
        end_ = WorkerEnd{.instead = report->problem, .launched = false};
      else if (report->beats != beats_)
        heard_ = LaunchClock::now();
      beats_ = report->beats;
      if (!end_ && LaunchClock::now() - heard_ > longest_silence)
        end_ = WorkerEnd{.instead = silence_text(host_)};
    } else if (const std::optional<ProcessEnd> end = command_.end()) {
      if (!command_ended_) command_ended_ = LaunchClock::now();
      if (!end->success() || LaunchClock::now() - *command_ended_ > report_patience)
        end_ = WorkerEnd{.instead = failure_text(*end), .launched = false};
    }
    return end_;
  }

  void send(record::ControlCommand command) override { request_command(folder_, attempt_, command); }
  void quit() override { request_stop(folder_, attempt_, StopWish::kill); }
  void kill() override { request_stop(folder_, attempt_, StopWish::kill); }

 private:
  std::string failure_text(const ProcessEnd& end) const {
    const std::string said = last_line_of(log_);
    return "its worker could not be started on " + host_ + ": the launch command ended with " + end.text() +
           (said.empty()
                ? ", and nothing was written to the run's folder, which that machine must share with "
                  "this one"
                : ": " + said);
  }

  const std::filesystem::path folder_, log_;
  const int attempt_;
  const std::string token_, host_;
  DetachedProcess command_;
  std::optional<WorkerEnd> end_;
  std::int64_t beats_ = 0;
  LaunchClock::time_point looked_{}, heard_ = LaunchClock::now();
  std::optional<LaunchClock::time_point> command_ended_;
};

}  // namespace

CommandLauncher::CommandLauncher(std::string command, std::filesystem::path exp)
    : command_(std::move(command)), exp_(std::move(exp)) {
  if (command_.find("{command}") == std::string::npos)
    throw Error("--launcher \"" + command_ +
                "\": {command} is missing, the command to run on the host; use ssh, or your own command such "
                "as 'ssh -p 2222 {host} {command}'");
}

world::ProcessIdentity CommandLauncher::holder(const WorkerPlace& place) const {
  return world::job_identity(place.host);
}

std::string CommandLauncher::command_for(const std::string& host, const std::filesystem::path& order) const {
  const std::string job = "exec " + shell_word(exp_.string()) + " job " + shell_word(order.string());
  std::string line = command_;
  replace_all(line, "{host}", host);
  replace_all(line, "{command}", shell_word(job));
  return line;
}

std::unique_ptr<Worker> CommandLauncher::start(const WorkOrder& order, const WorkerPlace& place) const {
  save_order(order, place);
  return std::make_unique<LaunchedWorker>(
      order, place.host, command_for(place.host, order_file(order.run_folder, order.attempt)));
}

std::shared_ptr<const Launcher> make_launcher(const std::string& name, const std::filesystem::path& exp) {
  const bool ssh = name == "ssh";
  // Without BatchMode ssh would ask for a password, on a terminal without a user.
  return std::make_shared<CommandLauncher>(ssh ? "ssh -o BatchMode=yes {host} {command}" : name, exp);
}

std::vector<std::string> parse_hosts(const std::string& list) {
  std::vector<std::string> hosts;
  std::istringstream in(list);
  for (std::string host; std::getline(in, host, ',');) {
    const bool plain = host.find_first_not_of(
                           "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                           "._-@:[]") == std::string::npos;
    if (host.empty() || host.front() == '-' || !plain)
      throw Error("--hosts \"" + list + "\": \"" + host +
                  "\" is not the name of a host: expected names separated by commas, such as node1,node2");
    if (std::find(hosts.begin(), hosts.end(), host) != hosts.end())
      throw Error("--hosts \"" + list + "\": " + host +
                  " is given twice; each host trains one run at a time");
    hosts.push_back(host);
  }
  if (hosts.empty()) throw Error("--hosts is empty; name at least one host");
  return hosts;
}

}  // namespace encore::runner
