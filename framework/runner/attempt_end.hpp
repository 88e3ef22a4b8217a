// SPDX-License-Identifier: BSD-3-Clause
// judge_end(): decides how an attempt ended, from the worker's own report, its exit and the requests to it.
// attempt.cpp calls it for workers that it follows, launched_runs.cpp for launched workers whose control
// program has ended; both must decide alike, so no rule about an end stands elsewhere. It changes nothing;
// apart from its arguments it reads only the end of the log. The reasons are stored with the attempt, for
// people.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "record/events.hpp"
#include "runner/worker.hpp"
#include "store/store.hpp"

namespace encore::runner {

/// The reason for which an attempt is asked to end.
enum class StopCause {
  user,     ///< Ctrl-C
  command,  ///< exp stop
  failure,  ///< another run ended badly, and --fail-fast was given
};

/// What is known about an attempt whose worker has ended.
struct KnownEnd {
  std::optional<record::Ended> last_word;  ///< the report of the worker itself; nothing: it made none
  WorkerEnd end;                           ///< exit code or signal, or why there was no worker
  std::optional<StopCause> asked = {};     ///< why it was asked to end; nothing: it was not asked
  std::string ended_because = {};          ///< not empty where the control program ended it
  std::int64_t step = 0;                   ///< the last one reported
};

/// The decision, as the database stores it and the screen shows it.
struct JudgedEnd {
  store::RunState state = store::RunState::lost;
  std::string reason = {};
  bool paused = false;        ///< at a rung, where it was asked to
  std::string log_tail = {};  ///< of the worker's log, if it did not end in order
  std::string plugin = {};    ///< whose code ran when a signal ended it
};

/// `log` is the file with what the worker printed.
JudgedEnd judge_end(const KnownEnd& known, const std::filesystem::path& log);

/// Returns "no sign of its worker for 60 s".
std::string no_sign_text(std::chrono::seconds time);

/// Returns the last lines of a log, from the beginning of a line.
std::string tail_of(const std::filesystem::path& log);
/// Returns the last line of a log that is not empty.
std::string last_line_of(const std::filesystem::path& log);
/// Returns "attempt-0001.log".
std::string log_name(int attempt);

}  // namespace encore::runner
