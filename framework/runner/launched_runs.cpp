// SPDX-License-Identifier: BSD-3-Clause
// settle_launched(): merges the spools of workers that ssh, Slurm or another --launcher started on other
// machines, and ends the attempts that are over. `exp run`, status and other verbs call it. The keeper is the
// process beside such a worker that writes its .job file every few seconds (job_files.hpp). A check stores
// how often the keeper had written (beats), and when, as the event "job" for the next check, so names of its
// members stay. Only the clock of the checking machine counts, so that clocks that differ cannot make a live
// worker look dead. Read launched_runs.hpp first.
#include "runner/launched_runs.hpp"

#include <cmath>
#include <map>

#include <nlohmann/json.hpp>

#include "base/json_fields.hpp"
#include "runner/attempt_end.hpp"
#include "runner/job_files.hpp"
#include "runner/slurm/finished_submissions.hpp"
#include "runner/slurm/queue_view.hpp"
#include "runner/stop_request.hpp"

namespace encore::runner {

namespace {

constexpr const char* job_note = "job";
constexpr const char* clock_note = "clock_difference";
constexpr double clock_tolerance = 60.0;

/// What a check of an attempt saw. It is stored as the JSON of the event "job", so the names in list() never
/// change.
struct Seen {
  std::int64_t beats = 0;
  double time = 0.0;  ///< when the beats were new, by the clock of the machine `by`
  std::string by;     ///< the machine that saw them first
  /// When each other machine saw the same beats first, by its own clock. Each machine waits by itself, so
  /// that machines that check in turn find a silent worker, too.
  std::map<std::string, double> others = {};
  double behind = 0.0;  ///< seconds by which the worker's clock is behind (negative: ahead); 0: about equal
  double over_since = 0.0;             ///< when its job was first seen to have ended; 0: it was not
  nlohmann::json scheduler = nullptr;  ///< what the scheduler says of its job

  bool operator==(const Seen&) const = default;
};

void list(auto& field, A<Seen> auto& seen) {
  field("beats", seen.beats);
  field("time", seen.time);
  field("by", seen.by);
  field.optional("others", seen.others);
  field("clock_behind", seen.behind);
  field.optional("over_since", seen.over_since);
  field.optional("scheduler", seen.scheduler);
}

nlohmann::json json_of(const Seen& seen, const JobReport* report) {
  nlohmann::json json = to_json_object(seen);
  if (report != nullptr) json.update({{"host", report->host}, {"process", report->pid}});
  return json;
}

/// Reads what the previous check stored. Returns nothing if there was none.
std::optional<Seen> seen_from(const nlohmann::json& json) {
  try {
    return from_json_object<Seen>(json);
  } catch (const FieldError&) {
    return std::nullopt;
  }
}

/// Returns when a machine saw the beats of `seen` first, by its own clock; nothing if it has not seen them.
std::optional<double> first_seen_by(const Seen& seen, const std::string& machine) {
  if (seen.by == machine) return seen.time;
  const auto other = seen.others.find(machine);
  return other == seen.others.end() ? std::nullopt : std::optional(other->second);
}

/// Adds this machine to those that have seen the beats, unless it has seen them.
void add_this_machine(Seen& seen) {
  const std::string machine = world::this_process().host;
  if (!first_seen_by(seen, machine)) seen.others[machine] = world::now_seconds();
}

/// Returns how far the worker's clock is behind, in seconds. A report that is new since the last check was
/// written between the two checks; a time outside of that shows another clock.
double clock_behind(const JobReport& report, const std::optional<Seen>& before, double now) {
  if (report.time > now + clock_tolerance) return now - report.time;
  if (before && report.time < before->time - clock_tolerance) return before->time - report.time;
  return 0.0;
}

/// On a network file system the report of a worker's end may appear this much later than the end of its job.
constexpr double late_report_seconds = 20.0;

class LaunchedRun {
 public:
  LaunchedRun(store::Store& store, const store::HeldByJob& held, QueueView& queue)
      : store_(store),
        queue_(queue),
        lease_(held.lease),
        held_(held),
        folder_(store.run_folder(held.lease.run_id)),
        job_(job_of(held.holder)) {}

  /// Merges what the worker has reported and ends the attempt if it is over. Returns true if the run has no
  /// live attempt any more.
  bool settle() {
    // The report is read first: everything that the worker reported before its end is then in the merged
    // spool.
    const std::optional<JobReport> read = read_report(folder_, lease_.ordinal);
    const JobReport* report = read && read->token == lease_.token ? &*read : nullptr;
    if (const std::optional<Succession> next = read_succession(folder_, lease_.ordinal);
        next && next->of == lease_.token)
      return succeed(*next, report);
    if (report != nullptr || !job_) store_.merge(lease_);
    if (report != nullptr && report->end && report->yielded.empty()) return finish(end_of(*report));
    if (report != nullptr && !report->problem.empty())
      return finish({.instead = report->problem, .launched = false});
    return job_ ? look_at_job(report) : look(report);
  }

 private:
  /// Ends this attempt because its job was started again and has begun another one, which continues the run.
  bool succeed(const Succession& next, const JobReport* report) {
    store_.merge(lease_);
    JudgedEnd judged{.state = store::RunState::lost, .reason = next.reason};
    if (report != nullptr && report->end) judged = judge(end_of(*report), next.reason);
    // A run that is begun again has not ended for good.
    if (judged.state != store::RunState::interrupted) judged.state = store::RunState::lost;
    store::HeldByJob held = held_;
    held.lease = store_.succeed_attempt(lease_, judged.state, judged.reason, next.attempt, next.token);
    return LaunchedRun(store_, held, queue_).settle();
  }

  bool look(const JobReport* report) {
    const std::optional<Seen> before = seen_from(store_.read_note(lease_, job_note));
    Seen now{.beats = report != nullptr ? report->beats : 0,
             .time = world::now_seconds(),
             .by = world::this_process().host,
             .behind = before ? before->behind : 0.0};
    const bool same = before && before->beats == now.beats;
    if (const std::optional<double> since = same ? first_seen_by(*before, now.by) : std::nullopt) {
      if (now.time - *since <= static_cast<double>(longest_silence.count())) return false;
      if (report != nullptr) return finish({.instead = silence_text(held_.holder.host)});
      return finish({.instead = "its worker never began on " + held_.holder.host +
                                ": nothing was written to the run's folder, which that machine must share",
                     .launched = false});
    }
    if (same) {
      now = *before;
      add_this_machine(now);
    }
    note(before, now, report);
    return false;
  }

  /// Stores what this check saw. Only a report that is new since the last check shows the worker's clock.
  void note(const std::optional<Seen>& before, Seen now, const JobReport* report) {
    if (report != nullptr && (!before || before->beats != now.beats))
      now.behind = clock_behind(*report, before, now.time);
    store_.replace_note(lease_, job_note, json_of(now, report));
    if (std::abs(now.behind) > clock_tolerance && (!before || before->behind == 0.0))
      store_.add_event(lease_, clock_note, {{"text", clock_text(now.behind)}});
  }

  bool look_at_job(const JobReport* report) {
    const std::optional<Seen> before = seen_from(store_.read_note(lease_, job_note));
    const JobStatus status = queue_.look(*job_);
    const bool unsubmitted = status.stage == JobStage::unsubmitted;
    Seen now{.beats = report != nullptr                  ? report->beats
                      : unsubmitted && status.submission ? status.submission->beats
                                                         : 0,
             .time = world::now_seconds(),
             .by = world::this_process().host,
             .behind = before ? before->behind : 0.0,
             .over_since = before ? before->over_since : 0.0};
    const double checked = now.time;
    double waited = 0.0;
    if (before && before->beats == now.beats) {
      waited = checked - first_seen_by(*before, now.by).value_or(checked);
      now.time = before->time;
      now.by = before->by;
      now.others = before->others;
      add_this_machine(now);
    }
    if (unsubmitted && is_abandoned(status, waited)) return abandon(status);
    const bool begun = report != nullptr && !report->end;
    now.scheduler = {{"job", status.job.id},
                     {"state", status.job.state},
                     {"text", status_text(status, begun)},
                     {"begun", begun}};
    const bool over = status.stage == JobStage::over || status.stage == JobStage::vanished;
    if (!over)
      now.over_since = 0.0;
    else if (now.over_since == 0.0)
      now.over_since = world::now_seconds();
    // A job that was never started, and a worker whose end is known, have nothing more to report.
    const bool all_told =
        (status.stage == JobStage::over && status.job.nodes.empty()) || (report != nullptr && report->end);
    if (over && (all_told || world::now_seconds() - now.over_since > late_report_seconds))
      return finish_with_job(status, report);
    if (now != before) note(before, now, report);
    return false;
  }

  /// Returns whether the run will never be begun: there is no record of its submission, Slurm has refused it,
  /// or Slurm does not know the job and its submitter is gone or has been silent for longest_silence.
  bool is_abandoned(const JobStatus& status, double silence) const {
    if (!status.submission || status.submission->stage == SubmissionStage::refused) return true;
    const world::Liveness liveness = world::liveness_of(status.submission->submitter);
    return liveness == world::Liveness::gone ||
           (liveness == world::Liveness::unknown && silence > static_cast<double>(longest_silence.count()));
  }

  /// Ends a run that will never be begun. A call of sbatch may still be in progress; its job then finds the
  /// request to stop.
  bool abandon(const JobStatus& status) {
    if (status.submission && status.submission->stage == SubmissionStage::refused)
      return finish({.instead = status.submission->waits_for, .launched = false});
    const JudgedEnd end{.state = store::RunState::interrupted,
                        .reason = "its job was never submitted: the exp run that packed it has ended"};
    cancel_by_name(job_->submission);
    write(end);
    request_stop(folder_, lease_.ordinal, StopWish::checkpoint);
    return true;
  }

  bool finish_with_job(const JobStatus& status, const JobReport* report) {
    const bool vanished = status.stage == JobStage::vanished;
    std::string why = vanished ? "Slurm knows nothing of its job " + status.job.id +
                                     " any more, which was cancelled in the queue or ended long ago,"
                               : job_end_text(status.job);
    if (report == nullptr)
      return finish({.instead = why + " before the run began" + unheard_text(status), .launched = false});
    if (report->end && (vanished || status.job.state == "COMPLETED")) why = report->yielded;
    if (report->end) return finish(end_of(*report), why);
    return finish({.instead = why});
  }

  /// Returns the reason for a job that was started on a node and has ended without a report in the run's
  /// folder.
  std::string unheard_text(const JobStatus& status) const {
    const QueuedJob& job = status.job;
    if (status.stage != JobStage::over || job.nodes.empty() ||
        (job.state != "FAILED" && job.state != "COMPLETED"))
      return "";
    const std::filesystem::path output = output_file(store_.runs_folder(), job_->submission, job_->element);
    std::error_code unreadable;
    if (!std::filesystem::exists(output, unreadable))
      return ": nothing was written to " + output.parent_path().string() + " from " + job.nodes +
             "; the folder of the database must lie on a file system that the nodes share with this "
             "machine, under the same path";
    const std::string said = last_line_of(output);
    return said.empty() ? "" : ": " + said;
  }

  std::string clock_text(double behind) const {
    return "the clock of " + held_.holder.host + " is about " +
           std::to_string(std::llround(std::abs(behind) / 60.0)) + " minutes " +
           (behind > 0 ? "behind" : "ahead of") + " the one of " + world::this_process().host +
           ": times of its events are by that clock; set both by NTP (chronyd, systemd-timesyncd)";
  }

  /// `remark` is what is known beside the worker's own report.
  JudgedEnd judge(const WorkerEnd& end, const std::string& remark) {
    KnownEnd known{.last_word = last_word_of(store_, lease_.run, lease_.ordinal), .end = end};
    if (const store::RunRow run = store_.read_run(lease_.run); run.progress) known.step = run.progress->step;
    const StopWish wish = requested_stop(folder_, lease_.ordinal);
    if (wish != StopWish::none) known.asked = StopCause::command;
    if (wish == StopWish::kill) known.ended_because = "its worker was killed by exp stop --kill";
    JudgedEnd judged = judge_end(known, folder_ / log_name(lease_.ordinal));
    if (!remark.empty() && judged.state != store::RunState::completed)
      judged.reason += (judged.reason.empty() ? "" : "; ") + remark;
    return judged;
  }

  bool finish(const WorkerEnd& end, const std::string& remark = "") {
    if (job_) store_.merge(lease_);
    write(judge(end, remark));
    return true;
  }

  void write(const JudgedEnd& judged) {
    try {
      store_.finish_attempt(lease_, judged.state, judged.reason);
    } catch (const store::LeaseLost&) {
      throw;
    } catch (const store::DatabaseError&) {
      throw;
    } catch (const Error& error) {
      // Its spool is incomplete, so that it cannot be completed.
      store_.finish_attempt(lease_, store::RunState::lost, error.what());
    }
  }

  store::Store& store_;
  QueueView& queue_;
  const store::Lease lease_;
  const store::HeldByJob held_;
  const std::filesystem::path folder_;
  const std::optional<JobName> job_;  ///< of Slurm; nothing: launched by a command
};

}  // namespace

std::optional<record::Ended> last_word_of(store::Store& store, std::int64_t run, std::int64_t attempt) {
  std::optional<record::Ended> last;
  for (const store::EventRow& row : store.read_events(run, record::Ended::type))
    if (row.attempt == attempt)
      if (const std::optional<record::Event> event = record::read_event(row.body.dump()).event)
        record::handle(*event, [&](const record::Ended& ended) { last = ended; });
  return last;
}

std::vector<store::RunRow> settle_launched(store::Store& store) {
  std::vector<store::RunRow> ended;
  const std::vector<store::HeldByJob> all = store.attempts_of_jobs();
  const FinishedSubmissions finished(store);
  QueueView queue(store.runs_folder());
  JobAccounts accounts(store);
  finished.want(queue);
  accounts.want(queue);
  for (const store::HeldByJob& held : all)
    if (const std::optional<JobName> job = job_of(held.holder)) queue.want(*job);
  for (const store::HeldByJob& held : all) {
    try {
      if (LaunchedRun(store, held, queue).settle()) ended.push_back(store.read_run(held.lease.run));
    } catch (const store::LeaseLost&) {
      // Another control program has ended it meanwhile.
    }
  }
  accounts.record(store, queue);
  finished.remove(queue, accounts);
  return ended;
}

std::optional<SchedulerNote> scheduler_note(store::Store& store, const store::RunRow& run) {
  if (run.state != store::RunState::running || !job_of(run.holder)) return std::nullopt;
  SchedulerNote note;
  for (const store::EventRow& row : store.read_events(run.number, job_note)) {
    if (row.attempt != run.attempts || !row.body.is_object()) continue;
    const nlohmann::json scheduler = row.body.value("scheduler", nlohmann::json());
    if (!scheduler.is_object()) continue;
    note = {.job = scheduler.value("job", ""),
            .state = scheduler.value("state", ""),
            .text = scheduler.value("text", ""),
            .begun = scheduler.value("begun", false)};
  }
  if (note.text.empty()) note.text = "in the hands of " + world::place_text(run.holder);
  return note;
}

void settle_launched_in_passing(const std::filesystem::path& database) {
  try {
    if (!std::filesystem::exists(database)) return;
    {
      store::Store looked(database, store::OpenMode::read);
      if (looked.attempts_of_jobs().empty() && FinishedSubmissions(looked).empty() &&
          JobAccounts(looked).empty())
        return;
    }
    store::Store store(database, store::OpenMode::write, std::chrono::seconds(1));
    settle_launched(store);
  } catch (const Error&) {
    // The verb itself reports what is wrong with the database.
  }
}

}  // namespace encore::runner
