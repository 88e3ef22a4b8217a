// SPDX-License-Identifier: BSD-3-Clause
// Garbage: files in the run folders that are no longer needed. `exp gc` (app/removal.cpp) finds and removes
// them, one run at a time under the write lock of the database, so that no attempt can begin meanwhile. A new
// kind of garbage is a new value of GarbageKind. The two names of files below lie on disks, so they do not
// change.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "store/store.hpp"

namespace encore::store {

enum class GarbageKind : std::uint8_t {
  checkpoint,    ///< a checkpoint that is neither the best nor the last
  leftover,      ///< a file of an interrupted write
  folder,        ///< the folder of a run that the database does not have
  verification,  ///< the folder of an exp verify that was killed
};
const char* name_of(GarbageKind kind);

/// The prefix of folders of verifications, which lie beside the run folders: verify-<run id>-XXXXXX.
inline const std::string verification_prefix = "verify-";
/// The file that marks the folder of a verification as wanted by the user.
inline constexpr const char* kept_mark = "kept";

struct Garbage {
  GarbageKind kind = GarbageKind::leftover;
  std::filesystem::path path;
  std::uint64_t bytes = 0;
  std::string run;  ///< name of the run, or of its folder if the run is gone; empty: beside the database
};

/// Returns all garbage, run by run. Skips runs on which a process works. Skips folders of unknown runs and of
/// verifications if anything in them changed during the last hour: a worker whose database was moved away may
/// still write there.
std::vector<Garbage> find_garbage(Store& store);
/// Returns the garbage of these runs only, without folders that belong to no run.
std::vector<Garbage> find_garbage(Store& store, const std::vector<RunRow>& runs);
/// Finds and removes garbage; with `folders` also folders of unknown runs. Returns what was removed. Throws
/// Error naming the first file that cannot be removed.
std::vector<Garbage> remove_garbage(Store& store, bool folders);
std::vector<Garbage> remove_garbage(Store& store, const std::vector<RunRow>& runs);

}  // namespace encore::store
