// Stop requests: how one process asks another to end its work on a run, by a file in the run's folder, over
// any file system they can both see. The file names the attempt that is meant, so that it reaches one that
// has only just begun, and no later one. session_file.hpp asks a whole exp run.
#pragma once

#include <filesystem>

namespace encore {

/// Asks whoever works on this attempt (1, 2 ... within the run) to checkpoint and end.
void request_stop(const std::filesystem::path& run_folder, int attempt);
bool stop_requested(const std::filesystem::path& run_folder, int attempt);
/// Removes what earlier attempts were asked.
void forget_stop_requests_before(const std::filesystem::path& run_folder, int attempt);

}  // namespace encore
