// Garbage: files in the run folders that nothing needs any more. Found by looking, removed one run at a time
// under the database's write lock, so that no attempt can begin meanwhile. `exp gc` calls this.
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

/// Folders of verifications, beside those of the runs: verify-<run id>-XXXXXX.
inline const std::string verification_prefix = "verify-";
/// A file in the folder of a verification that the user wants to keep.
inline constexpr const char* kept_mark = "kept";

struct Garbage {
  GarbageKind kind = GarbageKind::leftover;
  std::filesystem::path path;
  std::uint64_t bytes = 0;
  std::string run;  ///< name; that of the folder where the run is gone; empty beside the database
};

/// Everything there is, run by run. Runs on which a process works are passed over, and so are folders of
/// unknown runs in which something changed during the last hour: a worker may live there whose database was
/// taken away. For folders of verifications the same hour holds.
std::vector<Garbage> find_garbage(Store& store);
/// In the folders of these runs alone.
std::vector<Garbage> find_garbage(Store& store, const std::vector<RunRow>& runs);
/// Finds and removes; `folders`: those of unknown runs too. Returns what was removed. Throws Error naming the
/// first file that cannot be removed.
std::vector<Garbage> remove_garbage(Store& store, bool folders);
std::vector<Garbage> remove_garbage(Store& store, const std::vector<RunRow>& runs);

}  // namespace encore
