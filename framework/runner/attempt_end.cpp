// SPDX-License-Identifier: BSD-3-Clause
// judge_end(): decides whether an attempt is completed, stopped, interrupted, failed or lost, from the
// worker's last event, its exit and the requests to it, and writes the reason. Attempt and launched_runs.cpp
// call it. The order of the tests is the rule: the worker's own report counts before its exit code. Read
// attempt_end.hpp first.
#include "runner/attempt_end.hpp"

#include <fstream>
#include <iterator>
#include <sstream>

#include "record/crash_line.hpp"

namespace encore::runner {

namespace {

constexpr std::size_t log_tail_bytes = 2000;

JudgedEnd judge_last_word(const KnownEnd& known, const record::Ended& last_word,
                          const std::filesystem::path& log) {
  JudgedEnd judged{.reason = last_word.reason, .paused = last_word.epochs.has_value()};
  switch (last_word.ending) {
    case record::Ending::completed:
      judged.state = store::RunState::completed;
      break;
    case record::Ending::failed:
      judged.state = store::RunState::failed;
      judged.log_tail = tail_of(log);
      break;
    case record::Ending::interrupted:
      judged.state =
          known.asked == StopCause::command ? store::RunState::stopped : store::RunState::interrupted;
      if (known.asked == StopCause::failure) judged.reason += " because another run failed (--fail-fast)";
      break;
  }
  return judged;
}

/// Judges an attempt whose worker never began: that does not count against the run, which can be started
/// again.
JudgedEnd judge_failed_launch(const KnownEnd& known) {
  return {
      .state = known.asked == StopCause::command ? store::RunState::stopped : store::RunState::interrupted,
      .reason = known.end.instead};
}

}  // namespace

JudgedEnd judge_end(const KnownEnd& known, const std::filesystem::path& log) {
  if (known.last_word) return judge_last_word(known, *known.last_word, log);
  if (!known.end.launched) return judge_failed_launch(known);
  const ProcessEnd& end = known.end.process;
  JudgedEnd judged;
  judged.log_tail = tail_of(log);
  const std::optional<record::CrashLine> crash = record::find_crash_line(judged.log_tail);
  const std::string where = crash ? " during " + crash->work : "";
  if (crash) judged.plugin = crash->plugin;
  const bool timed_out = known.end.silent.count() > 0;
  if (timed_out) {
    judged.state = store::RunState::failed;
  } else if (known.asked) {
    judged.state =
        *known.asked == StopCause::command ? store::RunState::stopped : store::RunState::interrupted;
  } else {
    // After a signal or a full disk the run can be resumed. A worker that exits before its first report
    // cannot run at all.
    const bool never_began = end.signal == 0 && end.exit_code != 0 && known.step == 0;
    judged.state = never_began ? store::RunState::failed : store::RunState::lost;
  }
  if (!known.end.instead.empty())
    judged.reason = known.end.instead;
  else if (timed_out)
    judged.reason = no_sign_text(known.end.silent) + " (--step-timeout); it was killed" + where;
  else if (!known.ended_because.empty())
    judged.reason = known.ended_because + where;
  else if (known.asked)
    judged.reason = "killed while it was asked to stop" + where;
  else
    judged.reason = "the worker ended with " + end.text() + (crash ? where : " without a final report");
  return judged;
}

std::string no_sign_text(std::chrono::seconds time) {
  return "no sign of its worker for " + std::to_string(time.count()) + " s";
}

std::string tail_of(const std::filesystem::path& log) {
  std::ifstream in(log, std::ios::binary);
  const std::string text(std::istreambuf_iterator<char>(in), {});
  if (text.size() <= log_tail_bytes) return text;
  const std::size_t begin = text.find('\n', text.size() - log_tail_bytes);
  return begin == std::string::npos ? text.substr(text.size() - log_tail_bytes) : text.substr(begin + 1);
}

std::string last_line_of(const std::filesystem::path& log) {
  std::istringstream in(tail_of(log));
  std::string last;
  for (std::string line; std::getline(in, line);)
    if (!line.empty()) last = line;
  return last;
}

std::string log_name(int attempt) {
  std::string digits = std::to_string(attempt);
  return "attempt-" + std::string(digits.size() < 4 ? 4 - digits.size() : 0, '0') + digits + ".log";
}

}  // namespace encore::runner
