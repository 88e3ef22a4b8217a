// See launched_runs.hpp. What was seen last is kept as an event of the control program, "job": it is by the
// looking machine's clock alone, so that clocks that differ cannot make a live worker look dead.
#include "runner/launched_runs.hpp"

#include <cmath>

#include <nlohmann/json.hpp>

#include "runner/attempt_end.hpp"
#include "runner/job_files.hpp"
#include "runner/stop_request.hpp"

namespace encore {

namespace {

constexpr const char* job_note = "job";
constexpr const char* clock_note = "clock_difference";
constexpr double clock_tolerance = 60.0;

/// What the last look has seen.
struct Seen {
  std::int64_t beats = 0;
  double time = 0.0;    ///< of the look in which the beats were new, by the looking machine's clock
  std::string by;       ///< that machine
  double behind = 0.0;  ///< the worker's clock, in seconds, where it differs by more than clock_tolerance
};

nlohmann::json json_of(const Seen& seen, const JobReport* report) {
  nlohmann::json json = {
      {"beats", seen.beats}, {"time", seen.time}, {"by", seen.by}, {"clock_behind", seen.behind}};
  if (report != nullptr) json.update({{"host", report->host}, {"process", report->pid}});
  return json;
}

/// Nothing where nobody has looked before.
std::optional<Seen> seen_from(const nlohmann::json& json) {
  if (!json.is_object()) return std::nullopt;
  try {
    return Seen{json.at("beats"), json.at("time"), json.at("by"), json.at("clock_behind")};
  } catch (const nlohmann::json::exception&) {
    return std::nullopt;
  }
}

/// A report that is new since the last look was written between the two looks; a time outside is another
/// clock's.
double clock_behind(const JobReport& report, const std::optional<Seen>& before, double now) {
  if (report.time > now + clock_tolerance) return now - report.time;
  if (before && report.time < before->time - clock_tolerance) return before->time - report.time;
  return 0.0;
}

std::optional<Ended> last_word_of(Store& store, const Lease& lease) {
  std::optional<Ended> last;
  for (const EventRow& row : store.read_events(lease.run, Ended::type))
    if (row.attempt == lease.ordinal)
      if (const std::optional<Event> event = read_event(row.body.dump()).event)
        handle(*event, [&](const Ended& ended) { last = ended; });
  return last;
}

class LaunchedRun {
 public:
  LaunchedRun(Store& store, const HeldByJob& held)
      : store_(store), lease_(held.lease), held_(held), folder_(store.run_folder(held.lease.run_id)) {}

  /// True where it has ended.
  bool settle() {
    // The report first: all that the worker has told before its end is then in the spool that is merged.
    const std::optional<JobReport> report = read_report(folder_, lease_.ordinal);
    store_.merge(lease_);
    const bool ours = report && report->token == lease_.token;
    if (ours && report->end) return finish({.process = *report->end});
    if (ours && !report->problem.empty()) return finish({.instead = report->problem, .launched = false});
    return look(ours ? &*report : nullptr);
  }

 private:
  bool look(const JobReport* report) {
    const std::optional<Seen> before = seen_from(store_.read_note(lease_, job_note));
    Seen now{.beats = report != nullptr ? report->beats : 0,
             .time = now_seconds(),
             .by = this_process().host,
             .behind = before ? before->behind : 0.0};
    const bool again = before && before->beats == now.beats && before->by == now.by;
    if (again) {
      if (now.time - before->time <= static_cast<double>(longest_silence.count())) return false;
      if (report != nullptr) return finish({.instead = silence_text(held_.holder.host)});
      return finish({.instead = "its worker never began on " + held_.holder.host +
                                ": nothing was written to the run's folder, which that machine must share",
                     .launched = false});
    }
    if (report != nullptr) now.behind = clock_behind(*report, before, now.time);
    store_.replace_note(lease_, job_note, json_of(now, report));
    if (std::abs(now.behind) > clock_tolerance && (!before || before->behind == 0.0))
      store_.add_event(lease_, clock_note, {{"text", clock_text(now.behind)}});
    return false;
  }

  std::string clock_text(double behind) const {
    return "the clock of " + held_.holder.host + " is about " +
           std::to_string(std::llround(std::abs(behind) / 60.0)) + " minutes " +
           (behind > 0 ? "behind" : "ahead of") + " the one of " + this_process().host +
           ": times of its events are by that clock; set both by NTP (chronyd, systemd-timesyncd)";
  }

  bool finish(const WorkerEnd& end) {
    KnownEnd known{.last_word = last_word_of(store_, lease_), .end = end};
    if (const RunRow run = store_.read_run(lease_.run); run.progress) known.step = run.progress->step;
    const StopWish wish = requested_stop(folder_, lease_.ordinal);
    if (wish != StopWish::none) known.asked = StopCause::command;
    if (wish == StopWish::kill) known.ended_because = "its worker was killed by exp stop --kill";
    const JudgedEnd judged = judge_end(known, folder_ / log_name(lease_.ordinal));
    try {
      store_.finish_attempt(lease_, judged.state, judged.reason);
    } catch (const LeaseLost&) {
      throw;
    } catch (const DatabaseError&) {
      throw;
    } catch (const Error& error) {
      // Its spool is not whole, so that it cannot be called completed.
      store_.finish_attempt(lease_, RunState::lost, error.what());
    }
    return true;
  }

  Store& store_;
  const Lease lease_;
  const HeldByJob held_;
  const std::filesystem::path folder_;
};

}  // namespace

std::vector<RunRow> settle_launched(Store& store) {
  std::vector<RunRow> ended;
  for (const HeldByJob& held : store.attempts_of_jobs()) {
    try {
      if (LaunchedRun(store, held).settle()) ended.push_back(store.read_run(held.lease.run));
    } catch (const LeaseLost&) {
      // Another control program has ended it meanwhile.
    }
  }
  return ended;
}

void settle_launched_in_passing(const std::filesystem::path& database) {
  try {
    if (!std::filesystem::exists(database)) return;
    if (Store(database, OpenMode::read).attempts_of_jobs().empty()) return;
    Store store(database, OpenMode::write, std::chrono::seconds(1));
    settle_launched(store);
  } catch (const Error&) {
    // What is wrong with the database the verb itself says.
  }
}

}  // namespace encore
