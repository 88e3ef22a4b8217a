// See attempt.hpp.
#include "runner/attempt.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>

#include "record/checkpoint.hpp"
#include "record/crash_line.hpp"
#include "record/spool.hpp"
#include "runner/stop_request.hpp"

namespace encore {

namespace {

/// A worker that lost its lease works for nobody: it may end by itself for so long.
constexpr auto dispossessed_patience = std::chrono::seconds(10);
constexpr std::size_t log_tail_bytes = 2000;

std::string log_name(int attempt) {
  std::string digits = std::to_string(attempt);
  return "attempt-" + std::string(digits.size() < 4 ? 4 - digits.size() : 0, '0') + digits + ".log";
}

/// A run of no epoch only takes over weights, which one process does.
bool trains_nothing(const Specification& specification) {
  return specification.config.value(nlohmann::json::json_pointer("/train/epochs"), nlohmann::json()) == 0;
}

/// The last lines of a file, from the beginning of a line.
std::string tail_of(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  const std::string text(std::istreambuf_iterator<char>(in), {});
  if (text.size() <= log_tail_bytes) return text;
  const std::size_t begin = text.find('\n', text.size() - log_tail_bytes);
  return begin == std::string::npos ? text.substr(text.size() - log_tail_bytes) : text.substr(begin + 1);
}

}  // namespace

Attempt::Attempt(Store& store, const RunTask& task, const WorkerPlace& place, const Lease& lease,
                 RunObserver& observer)
    : store_(store),
      lease_(lease),
      observer_(observer),
      folder_(store.run_folder(lease.run_id)),
      log_(folder_ / log_name(lease.ordinal)),
      recorder_(store, lease_, observer),
      follower_(folder_ / spool_name(lease.ordinal), observer, {lease.run_id, lease.ordinal}),
      step_timeout_(task.step_timeout) {
  outcome_.began = true;
  try {
    start(task, place);
  } catch (const LeaseLost& error) {
    dispossess(error);
  } catch (const Error& error) {
    // Nothing is known against the run itself: a full disk, say, or a worker that cannot be started.
    outcome_.state = RunState::interrupted;
    outcome_.reason = error.what();
    phase_ = Phase::recording;
  }
}

void Attempt::start(const RunTask& task, const WorkerPlace& place) {
  forget_stop_requests_before(folder_, lease_.ordinal);
  if (task.from_start) prune_checkpoints(folder_, {});
  task.specification.save(folder_);
  if (!task.plugin_change.is_null()) store_.add_event(lease_, "plugin_change", task.plugin_change);
  if (!task.parent.is_null()) store_.add_event(lease_, "parent", task.parent);
  std::vector<std::string> arguments = {
      "train",   "--run-folder", folder_.string(), "--attempt", std::to_string(lease_.ordinal),
      "--lease", lease_.token};
  if (place.threads > 0) arguments.insert(arguments.end(), {"--threads", std::to_string(place.threads)});
  if (task.stop_after_epoch > 0)
    arguments.insert(arguments.end(), {"--stop-after-epoch", std::to_string(task.stop_after_epoch)});
  if (task.pause_after_step > 0)
    arguments.insert(arguments.end(), {"--pause-after-step", std::to_string(task.pause_after_step)});
  WorkerPlace where = place;
  if (trains_nothing(task.specification)) {
    where.ranks = 1;
    where.launcher.clear();
  }
  if (where.ranks > 1) arguments.insert(arguments.end(), {"--ranks", std::to_string(where.ranks)});
  worker_.emplace(task.worker, std::move(arguments), log_, where);
}

bool Attempt::advance() {
  try {
    if (phase_ == Phase::working) work();
    if (phase_ == Phase::recording) record();
  } catch (const LeaseLost& error) {
    dispossess(error);
  }
  if (phase_ == Phase::dispossessed &&
      (!worker_ || worker_->wait_for(std::chrono::milliseconds(0)) || Clock::now() > deadline_))
    finish();
  return phase_ == Phase::over;
}

void Attempt::work() {
  const std::optional<ProcessEnd> end = worker_->wait_for(std::chrono::milliseconds(0));
  follower_.poll();
  if (end) {
    judge(*end);
    phase_ = Phase::recording;
    return;
  }
  look_at_requests();
  look_at_silence();
  if (kill_at_ && Clock::now() > *kill_at_) worker_->kill();
  recorder_.merge_when_due();
}

void Attempt::look_at_requests() {
  const StopWish wish = requested_stop(folder_, lease_.ordinal);
  if (wish == StopWish::kill) {
    kill_by_command();
  } else if (wish == StopWish::checkpoint && !asked_) {
    observer_.noticed("asked to stop by exp stop: the worker writes a checkpoint first");
    ask_to_stop(StopCause::command);
  }
}

void Attempt::look_at_silence() {
  const Silence silence = follower_.silence();
  if (silence.noticeable()) observer_.silent(silence);
  if (step_timeout_.count() == 0 || follower_.unheard() < static_cast<double>(step_timeout_.count()) ||
      kill_at_)
    return;
  timed_out_ = true;
  const std::string limit = std::to_string(step_timeout_.count());
  observer_.noticed("no sign of its worker for " + limit + " s: it is killed (--step-timeout " + limit + ")");
  end_worker("no sign of its worker for " + limit + " s (--step-timeout); it was killed");
}

/// A signal lets the worker say what it was doing; one that cannot even do that is killed a little later.
void Attempt::end_worker(const std::string& why) {
  ended_because_ = why;
  worker_->quit();
  kill_at_ = Clock::now() + last_word_patience;
}

void Attempt::kill_by_command() {
  if (phase_ != Phase::working || kill_at_) return;
  observer_.noticed("asked to stop by exp stop --kill: the worker is killed now");
  asked_ = StopCause::command;
  end_worker("its worker was killed by exp stop --kill");
}

void Attempt::ask_to_stop(StopCause cause) {
  if (phase_ == Phase::recording) impatient_ = true;
  if (phase_ != Phase::working || asked_) return;
  asked_ = cause;
  worker_->send(ControlCommand::stop);
}

void Attempt::kill() {
  if (phase_ == Phase::recording) impatient_ = true;
  if (!asked_) asked_ = StopCause::user;
  if (worker_) worker_->kill();
}

/// What the worker's own last word and its exit say together.
void Attempt::judge(const ProcessEnd& end) {
  const std::optional<Ended>& last_word = follower_.ended();
  if (!last_word) return judge_without_last_word(end);
  outcome_.reason = last_word->reason;
  outcome_.paused = last_word->epochs.has_value();
  switch (last_word->ending) {
    case Ending::completed:
      outcome_.state = RunState::completed;
      break;
    case Ending::failed:
      outcome_.state = RunState::failed;
      outcome_.log_tail = tail_of(log_);
      break;
    case Ending::interrupted:
      outcome_.state = asked_ == StopCause::command ? RunState::stopped : RunState::interrupted;
      if (asked_ == StopCause::failure) outcome_.reason += " because another run ended badly (--fail-fast)";
      break;
  }
}

void Attempt::judge_without_last_word(const ProcessEnd& end) {
  outcome_.log_tail = tail_of(log_);
  const std::optional<CrashLine> crash = find_crash_line(outcome_.log_tail);
  const std::string where = crash ? " during " + crash->work : "";
  if (crash) outcome_.plugin = crash->plugin;
  if (timed_out_) {
    outcome_.state = RunState::failed;
  } else if (asked_) {
    outcome_.state = *asked_ == StopCause::command ? RunState::stopped : RunState::interrupted;
  } else {
    // A signal or a full disk leaves a run that can go on; an exit before the first word is a worker that
    // cannot.
    const bool never_began = end.signal == 0 && end.exit_code != 0 && follower_.step() == 0;
    outcome_.state = never_began ? RunState::failed : RunState::lost;
  }
  if (!ended_because_.empty())
    outcome_.reason = ended_because_ + where;
  else if (asked_)
    outcome_.reason = "killed while it was asked to stop" + where;
  else
    outcome_.reason = "the worker ended with " + end.text() + (crash ? where : " and without a last word");
}

void Attempt::record() {
  Recorder::Finish how = Recorder::Finish::later;
  try {
    how = recorder_.finish(outcome_.state, outcome_.reason);
  } catch (const LeaseLost&) {
    throw;
  } catch (const Error& error) {
    // Its spool is not whole, so that it cannot be called completed.
    outcome_.state = RunState::lost;
    outcome_.reason = error.what();
    how = recorder_.finish(outcome_.state, outcome_.reason);
  }
  if (how == Recorder::Finish::later && !impatient_) return;
  outcome_.recorded = how == Recorder::Finish::done;
  if (!outcome_.recorded) outcome_.not_recorded_because = recorder_.problem();
  finish();
}

void Attempt::dispossess(const LeaseLost& error) {
  outcome_.state = RunState::lost;
  outcome_.reason = error.what();
  outcome_.taken_over = true;
  if (worker_) worker_->send(ControlCommand::stop);
  deadline_ = Clock::now() + dispossessed_patience;
  phase_ = Phase::dispossessed;
}

void Attempt::finish() {
  outcome_.result = follower_.result();
  // A worker that had nothing left to train tells of its step in its last word alone.
  const std::int64_t last = follower_.ended() ? follower_.ended()->step.value_or(0) : 0;
  outcome_.step = std::max(follower_.step(), last);
  outcome_.seconds = std::chrono::duration<double>(Clock::now() - begun_).count();
  phase_ = Phase::over;
}

}  // namespace encore
