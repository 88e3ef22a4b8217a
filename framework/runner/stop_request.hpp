// SPDX-License-Identifier: BSD-3-Clause
// Stop request: the file stop-N in a run's folder, which asks the process that works on attempt N to end it,
// on a file system that both see. Its content is "stop" or "kill", one line. The file names the attempt, so
// that it reaches one that has only just begun, and no later one. `exp stop` writes it; Attempt and JobKeeper
// read it. session_file.hpp asks a whole `exp run`. Other versions of `exp` read the file, so name and
// content do not change.
#pragma once

#include <cstdint>
#include <filesystem>

namespace encore::runner {

/// The request to a process that works on a run; the later ones ask for more.
enum class StopWish : std::uint8_t {
  none,
  checkpoint,  ///< to write a checkpoint and end
  kill,        ///< to kill the worker now: it may hang, and then writes nothing any more
};

/// Asks the process that works on this attempt (1, 2 ... within the run) to end.
void request_stop(const std::filesystem::path& run_folder, int attempt, StopWish wish);
/// Returns the request to this attempt; `none` if there is none. A file with unknown content asks for a
/// checkpoint.
StopWish requested_stop(const std::filesystem::path& run_folder, int attempt);
/// Removes the requests to earlier attempts. prepare_work.cpp calls it when a new attempt begins, so that old
/// requests do not gather.
void forget_stop_requests_before(const std::filesystem::path& run_folder, int attempt);

}  // namespace encore::runner
