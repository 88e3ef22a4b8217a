// SPDX-License-Identifier: BSD-3-Clause
// Garbage is files in the run folders that are no longer needed. It is removed one run at a time under the
// database's write lock, so that no attempt can begin meanwhile. `exp gc` calls this.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "store/store.hpp"

namespace encore {

enum class GarbageKind : std::uint8_t {
  checkpoint,    ///< neither the best nor the last
  leftover,      ///< of a write that was interrupted
  folder,        ///< of a run that the database does not know
  verification,  ///< the folder of an exp verify that was killed
};
const char* name_of(GarbageKind kind);

/// Begins the names of folders of verifications, beside those of the runs: verify-<run id>-XXXXXX.
inline const std::string verification_prefix = "verify-";
/// A file in the folder of a verification that the user wants to keep.
inline constexpr const char* kept_mark = "kept";

struct Garbage {
  GarbageKind kind = GarbageKind::leftover;
  std::filesystem::path path;
  std::uint64_t bytes = 0;
  std::string run;  ///< its name, or that of the folder if the run is gone; empty beside the database
};

/// Returns all garbage, run by run. Skips runs on which a process works, and folders of unknown runs in which
/// something changed during the last hour: a worker may be at work there whose database was moved away. The
/// same hour protects folders of verifications.
std::vector<Garbage> find_garbage(Store& store);
/// Looks only in the folders of these runs.
std::vector<Garbage> find_garbage(Store& store, const std::vector<RunRow>& runs);
/// Finds and removes garbage; with `folders` also folders of unknown runs. Returns what was removed. Throws
/// Error naming the first file that cannot be removed.
std::vector<Garbage> remove_garbage(Store& store, bool folders);
std::vector<Garbage> remove_garbage(Store& store, const std::vector<RunRow>& runs);

}  // namespace encore
