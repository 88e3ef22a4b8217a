// SPDX-License-Identifier: BSD-3-Clause
// read_code_state(): asks git for the commit and the changes of a folder, and cuts a long diff.
// app/run_session.cpp and app/search_session.cpp call it once per session. A missing git or repository is not
// an error. The state is stored with each attempt, so the limit of a diff protects the database. Read
// code_state.hpp first.
#include "runner/code_state.hpp"

#include <encore/error.hpp>

#include "record/source_record.hpp"
#include "runner/worker_process.hpp"

namespace encore::runner {

namespace {

/// Returns the output of git, or nothing when it fails.
std::string git(const std::filesystem::path& folder, std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), {"-C", folder.string()});
  const ProgramOutput output = run_program("git", arguments);
  return output.end.success() ? output.output : "";
}

std::string first_line(const std::string& text) {
  return text.substr(0, text.find('\n'));
}

}  // namespace

CodeState read_code_state(const std::filesystem::path& folder) try {
  CodeState state;
  state.folder = first_line(git(folder.empty() ? "." : folder, {"rev-parse", "--show-toplevel"}));
  if (state.folder.empty()) return state;
  state.commit = first_line(git(state.folder, {"rev-parse", "--verify", "--quiet", "HEAD"}));
  // A repository without a commit has nothing to differ from.
  if (state.commit.empty()) return state;
  state.changed = !git(state.folder, {"status", "--porcelain", "--untracked-files=no"}).empty();
  if (!state.changed) return state;
  state.diff = record::limited_diff(git(state.folder, {"diff", "--no-color", "--no-ext-diff", "HEAD"}));
  return state;
} catch (const Error&) {
  return {};
}

}  // namespace encore::runner
