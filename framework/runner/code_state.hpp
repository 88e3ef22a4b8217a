// SPDX-License-Identifier: BSD-3-Clause
// CodeState: the commit and the uncommitted changes of the repository that holds an experiment file. Place in
// the flow: app/run_session.cpp and app/search_session.cpp read it once -> store/ keeps it with every attempt
// (store::CodeVersion), so that a result can be traced to its author's files. It does not decide anything: a
// changed file gives the same run if its settings are the same. For Encore's own source see
// record/source_record.hpp.
#pragma once

#include <filesystem>
#include <string>

namespace encore::runner {

struct CodeState {
  std::string folder;    ///< top of the work tree; empty where the folder is in none
  std::string commit;    ///< its hash; empty where there is no repository or no commit
  bool changed = false;  ///< whether anything differs from the commit
  std::string diff;      ///< `git diff HEAD` of the whole work tree, cut at code_diff_limit
};

/// Returns an empty state if there is no git or no repository; never throws for that.
CodeState read_code_state(const std::filesystem::path& folder);

}  // namespace encore::runner
