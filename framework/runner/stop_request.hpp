// Stop requests: how one process asks others to end what they work on, over any file system they can both
// see. A run is asked by a file in its folder; a sweep, or everything on a database, by a sign beside the run
// folders, which a control program holds against what stood there when it began.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace encore {

/// What is asked of whoever works on a run.
enum class StopWish : std::uint8_t {
  none,
  checkpoint,  ///< to write a checkpoint and end
  kill,        ///< to kill the worker now: it may hang, and then writes nothing any more
};

/// Asks whoever works on the run to end.
void request_stop(const std::filesystem::path& run_folder, StopWish wish);
StopWish requested_stop(const std::filesystem::path& run_folder);
/// For the next attempt, which nobody asked yet.
void forget_stop_request(const std::filesystem::path& run_folder);

/// A file whose change asks to stop.
class StopSign {
 public:
  explicit StopSign(std::filesystem::path file);
  /// What it asks for since; none where it was not changed.
  StopWish raised() const;
  /// Changes it.
  static void raise(const std::filesystem::path& file, StopWish wish);

 private:
  std::filesystem::path file_;
  std::string before_;
};

/// The sign of a sweep (its number in the database), and the one of all; `runs` is the folder of run folders.
std::filesystem::path stop_sign_of_sweep(const std::filesystem::path& runs, std::int64_t sweep);
std::filesystem::path stop_sign_of_all(const std::filesystem::path& runs);

}  // namespace encore
