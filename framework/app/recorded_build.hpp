// SPDX-License-Identifier: BSD-3-Clause
// exp verify BUNDLE --build: builds the program of the recorded commit in a separate work tree, for
// cli/bundle_verify.cpp. The commit comes from the user's clone. Only a diff can come from the bundle; it is
// foreign code, so it is applied only with --with-diff.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "app/app.hpp"
#include "store/store.hpp"

namespace encore::app {

struct RecordedBuild {
  std::filesystem::path clone;  ///< of Encore; empty: the tree in which this program was built
  std::string backend;          ///< for which it is built
  bool with_diff = false;       ///< apply the recorded changes
};

/// Returns the commit and diff of Encore that trained these runs, or empty ones if none is recorded. Throws
/// Error if the runs have several, or if Encore was built without git.
store::CodeVersion recorded_code(store::Store& store, const std::vector<store::RunRow>& runs);

/// Returns the tree in which this program was built, or "" if it is installed.
std::filesystem::path own_source_tree();

/// Returns the path of the built `exp`, and reuses an earlier build. Throws Error if the commit is not in the
/// clone or cannot be built, or if it has a diff and `with_diff` is false.
std::filesystem::path build_recorded(const store::CodeVersion& code, const RecordedBuild& build,
                                     const App& app);

}  // namespace encore::app
