// SPDX-License-Identifier: BSD-3-Clause
// Reads and writes the files by which a process asks another one to end an attempt. `exp stop` writes them;
// Attempt and JobKeeper look for them. Any content that is not known asks for a checkpoint and an end, so
// that newer versions still stop a run. Read stop_request.hpp first.
#include "runner/stop_request.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <string>
#include <system_error>

#include <encore/error.hpp>

#include "base/input_file.hpp"
#include "world/atomic_file.hpp"

namespace encore::runner {

namespace {

constexpr std::size_t most_request_bytes = 64;

std::filesystem::path request_file(const std::filesystem::path& run_folder, int attempt) {
  return run_folder / ("stop-" + std::to_string(attempt));
}

}  // namespace

void request_stop(const std::filesystem::path& run_folder, int attempt, StopWish wish) {
  // Several processes may ask at the same moment: each writes a file of its own, and the last one counts.
  const std::filesystem::path file = request_file(run_folder, attempt);
  const std::filesystem::path own = file.string() + "." + std::to_string(::getpid());
  world::save_file(own, wish == StopWish::kill ? "kill\n" : "stop\n");
  if (std::rename(own.c_str(), file.c_str()) != 0) throw Error(world::system_message("write", file, errno));
  world::sync_folder(run_folder);
}

StopWish requested_stop(const std::filesystem::path& run_folder, int attempt) {
  const std::filesystem::path file = request_file(run_folder, attempt);
  std::error_code unreadable;
  if (!std::filesystem::exists(file, unreadable)) return StopWish::none;
  try {
    if (read_file(file, most_request_bytes).starts_with("kill")) return StopWish::kill;
  } catch (const UnreadableFile&) {
    // Any other file under this name asks to stop.
  }
  return StopWish::checkpoint;
}

void forget_stop_requests_before(const std::filesystem::path& run_folder, int attempt) {
  std::error_code absent;
  for (int earlier = 1; earlier < attempt; ++earlier)
    std::filesystem::remove(request_file(run_folder, earlier), absent);
}

}  // namespace encore::runner
