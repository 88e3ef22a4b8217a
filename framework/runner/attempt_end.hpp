// Attempt's end: what a worker's own last word, its exit and what was asked of it mean together. Attempts
// that are followed (attempt.hpp) and launched ones that nobody followed (launched_runs.hpp) are judged
// alike.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "record/events.hpp"
#include "runner/worker.hpp"
#include "store/store.hpp"

namespace encore {

/// Why an attempt is asked to end.
enum class StopCause {
  user,     ///< Ctrl-C
  command,  ///< exp stop
  failure,  ///< another run ended badly, and --fail-fast was given
};

struct KnownEnd {
  std::optional<Ended> last_word;
  WorkerEnd end;
  std::optional<StopCause> asked = {};
  std::string ended_because = {};  ///< not empty where the control program ended it
  std::int64_t step = 0;           ///< the last one reported
};

struct JudgedEnd {
  RunState state = RunState::lost;
  std::string reason = {};
  bool paused = false;        ///< at a rung, where it was asked to
  std::string log_tail = {};  ///< of the worker's log, where its end was none in order
  std::string plugin = {};    ///< whose code ran when a signal ended it
};

JudgedEnd judge_end(const KnownEnd& known, const std::filesystem::path& log);

/// "no sign of its worker for 60 s"
std::string no_sign_text(std::chrono::seconds time);

/// The last lines of a log, from the beginning of a line.
std::string tail_of(const std::filesystem::path& log);
/// The last line of a log that is not empty.
std::string last_line_of(const std::filesystem::path& log);
/// "attempt-0001.log"
std::string log_name(int attempt);

}  // namespace encore
