// SPDX-License-Identifier: BSD-3-Clause
// CodeState: the commit and the uncommitted changes of the repository that holds an experiment file. Place in
// the flow: app/run_session.cpp reads it once -> it is stored with every attempt, so that a result can be
// traced to its author's files. For Encore's own source see record/source_record.hpp.
#pragma once

#include <filesystem>
#include <string>

namespace encore::runner {

struct CodeState {
  std::string folder;  ///< top of the work tree; empty where the folder is in none
  std::string commit;
  bool changed = false;  ///< whether anything differs from the commit
  std::string diff;      ///< `git diff HEAD` of the whole work tree, cut at code_diff_limit
};

/// Returns an empty state if there is no git or no repository; never throws for that.
CodeState read_code_state(const std::filesystem::path& folder);

}  // namespace encore::runner
