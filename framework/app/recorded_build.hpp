// exp verify BUNDLE --build: the program of the recorded commit, built in a work tree of its own. The commit
// comes from a clone that the user has; of the bundle itself comes only a diff, which is code of somebody
// else, and is applied only where that is asked for too.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "app/app.hpp"
#include "store/store.hpp"

namespace encore {

struct RecordedBuild {
  std::filesystem::path clone;  ///< of Encore; empty: the one that this program was built in
  std::string backend;
  bool with_diff = false;  ///< apply what was changed in it
};

/// The one commit and diff of Encore that trained all of these runs; empty where none was recorded. Throws
/// Error where they are several, and where there was no git.
CodeVersion recorded_code(Store& store, const std::vector<RunRow>& runs);

/// The tree in which this program was built; empty where it is installed.
std::filesystem::path own_source_tree();

/// Returns the path of its `exp`. What was built before is used again. Throws Error where the commit is not
/// in the clone, or is none that can be built, and where a diff would have to be applied and may not be.
std::filesystem::path build_recorded(const CodeVersion& code, const RecordedBuild& build, const App& app);

}  // namespace encore
