// See attempt.hpp.
#include "runner/attempt.hpp"

#include <fstream>
#include <iterator>

#include "record/checkpoint.hpp"
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

/// The last lines of a file, from the beginning of a line.
std::string tail_of(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  const std::string text(std::istreambuf_iterator<char>(in), {});
  if (text.size() <= log_tail_bytes) return text;
  const std::size_t begin = text.find('\n', text.size() - log_tail_bytes);
  return begin == std::string::npos ? text.substr(text.size() - log_tail_bytes) : text.substr(begin + 1);
}

}  // namespace

bool may_resume(const Store& store, const std::string& run_id) {
  try {
    return !list_checkpoints(store.run_folder(run_id)).empty();
  } catch (const Error&) {
    return true;
  }
}

Attempt::Attempt(Store& store, const RunTask& task, const WorkerPlace& place, const Lease& lease,
                 RunObserver& observer)
    : store_(store),
      lease_(lease),
      observer_(observer),
      folder_(store.run_folder(lease.run_id)),
      log_(folder_ / log_name(lease.ordinal)),
      recorder_(store, lease_, observer),
      follower_(folder_ / spool_name(lease.ordinal), observer, {lease.run_id, lease.ordinal}) {
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
  std::vector<std::string> arguments = {
      "train",   "--run-folder", folder_.string(), "--attempt", std::to_string(lease_.ordinal),
      "--lease", lease_.token};
  if (place.threads > 0) arguments.insert(arguments.end(), {"--threads", std::to_string(place.threads)});
  worker_.emplace(task.worker, std::move(arguments), log_, place);
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
  if (!asked_ && stop_requested(folder_, lease_.ordinal)) {
    observer_.noticed("asked to stop by exp stop: the worker writes a checkpoint first");
    ask_to_stop(StopCause::command);
  }
  recorder_.merge_when_due();
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
  const auto& finished = follower_.finished();
  if (!finished) {
    // A signal or a full disk leaves a run that can go on; an exit before the first word is a worker that
    // cannot.
    const bool never_began = end.signal == 0 && end.exit_code != 0 && follower_.step() == 0;
    outcome_.state = never_began ? RunState::failed : RunState::lost;
    outcome_.reason = "the worker ended with " + end.text() + " and without a last word";
    outcome_.log_tail = tail_of(log_);
    if (!asked_) return;
    outcome_.state = *asked_ == StopCause::command ? RunState::stopped : RunState::interrupted;
    outcome_.reason = "killed while it was asked to stop";
    return;
  }
  outcome_.reason = finished->reason;
  if (finished->state == "completed") {
    outcome_.state = RunState::completed;
  } else if (finished->state == "failed") {
    outcome_.state = RunState::failed;
    outcome_.log_tail = tail_of(log_);
  } else {
    outcome_.state = asked_ == StopCause::command ? RunState::stopped : RunState::interrupted;
    if (asked_ == StopCause::failure) outcome_.reason += " because another run ended badly (--fail-fast)";
  }
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
  outcome_.step = follower_.step();
  outcome_.has_checkpoint = may_resume(store_, lease_.run_id);
  outcome_.seconds = std::chrono::duration<double>(Clock::now() - begun_).count();
  phase_ = Phase::over;
}

}  // namespace encore
