// SPDX-License-Identifier: BSD-3-Clause
// `exp verify BUNDLE --build`: builds a recorded commit of Encore in a separate work tree, for
// cli/bundle_verify.cpp. The name of the commit and the diff come from a bundle, whose author may be a
// stranger: each is checked before git sees it, the commit must be in the user's clone, and a diff is
// applied only with --with-diff. These checks must stay. Read next: recorded_build.hpp.
#include "app/recorded_build.hpp"

#include <algorithm>
#include <cstdlib>

#include "base/sha256.hpp"
#include "record/cache_folder.hpp"
#include "record/source_record.hpp"
#include "runner/programs.hpp"
#include "runner/worker_process.hpp"
#include "world/atomic_file.hpp"

namespace encore::app {

namespace {

namespace fs = std::filesystem;

/// Checks a commit from a bundle, so that git cannot read it as an option or a name.
void require_commit(const std::string& commit) {
  if (!record::is_commit_hash(commit))
    throw Error("the recorded commit is invalid: expected 40 or 64 hexadecimal digits");
}

runner::ProgramOutput git(const fs::path& folder, std::vector<std::string> arguments,
                          const std::string& input = "") {
  arguments.insert(arguments.begin(), {"-C", folder.string()});
  return runner::run_program("git", arguments, input);
}

void require_source(const fs::path& clone, const std::string& commit) {
  if (!git(clone, {"cat-file", "-e", commit + "^{commit}"}).end.success())
    throw Error("the clone " + clone.string() + " does not have the recorded commit " + commit +
                "; run git fetch --all, or choose another clone with --clone");
  if (!git(clone, {"cat-file", "-e", commit + ":framework/bundle/CMakeLists.txt"}).end.success())
    throw Error("the recorded commit " + commit +
                " cannot verify bundles: it is an older Encore or, if the runs do not record the source of "
                "Encore, the commit of the experiment file's repository; build the program yourself and "
                "verify without --build");
}

void require_diff(const store::CodeVersion& code, bool with_diff) {
  if (code.diff.empty()) return;
  if (code.diff.size() > record::code_diff_limit)
    throw Error("the recorded changes to the commit are incomplete, so it cannot be built");
  if (!with_diff)
    throw Error("the recorded commit was changed by a diff of " +
                std::to_string(std::ranges::count(code.diff, '\n')) +
                " lines from the bundle's author; read it with exp bundle show FILE --diff, and pass "
                "--with-diff to apply it");
}

fs::path build_folder(const store::CodeVersion& code) {
  if (record::cache_folder().empty()) throw Error("there is no folder to build in; set $ENCORE_CACHE");
  return record::cache_folder() / "builds" /
         (code.commit + (code.diff.empty() ? "" : "-" + sha256(code.diff).substr(0, 16)));
}

void add_work_tree(const fs::path& clone, const store::CodeVersion& code, const fs::path& folder) {
  world::make_folder(folder.parent_path());
  const runner::ProgramOutput added =
      git(clone, {"worktree", "add", "--detach", folder.string(), code.commit});
  if (!added.end.success())
    throw Error("git could not make a work tree of " + code.commit + ": " + added.errors);
  if (code.diff.empty()) return;
  // Without --unsafe-paths, git does not write outside of the tree.
  const runner::ProgramOutput applied = git(folder, {"apply", "--whitespace=nowarn", "-"}, code.diff);
  if (applied.end.success()) return;
  git(clone, {"worktree", "remove", "--force", folder.string()});
  throw Error("the recorded diff does not apply to its commit: " + applied.errors);
}

/// Returns the source of Encore that trained an attempt. Before version 10 of the database only the commit of
/// the experiment's repository is known, which may be Encore's own.
store::CodeVersion code_of(const store::AttemptRow& attempt) {
  if (!attempt.source) return {attempt.commit_hash, attempt.diff};
  if (attempt.source->commit.empty())
    throw Error("Encore was built without git from the folder " + attempt.source->archive +
                ", whose source files have the SHA-256 " + attempt.source->sha256 +
                "; build it from that archive and verify without --build");
  return {attempt.source->commit, attempt.source->diff};
}

}  // namespace

store::CodeVersion recorded_code(store::Store& store, const std::vector<store::RunRow>& runs) {
  std::optional<store::CodeVersion> found;
  for (const store::RunRow& run : runs) {
    const std::vector<store::AttemptRow> attempts = store.read_attempts(run.number);
    if (attempts.empty()) continue;
    const store::CodeVersion code = code_of(attempts.back());
    if (!found) found = code;
    if (found->commit != code.commit || found->diff != code.diff)
      throw Error(
          "the runs were trained by several versions of Encore; name only runs of one version after the "
          "bundle");
  }
  return found.value_or(store::CodeVersion{});
}

fs::path own_source_tree() {
  // TREE/build/openmp/bin
  const fs::path tree = runner::installed_programs().folder.parent_path().parent_path().parent_path();
  std::error_code missing;
  return fs::exists(tree / "framework" / "bundle", missing) && fs::exists(tree / "exp", missing) ? tree
                                                                                                 : fs::path();
}

fs::path build_recorded(const store::CodeVersion& code, const RecordedBuild& build, const App& app) {
  if (code.commit.empty()) throw Error("cannot build: no commit is recorded with these runs");
  require_commit(code.commit);
  const fs::path clone = build.clone.empty() ? own_source_tree() : build.clone;
  if (clone.empty()) throw Error("this Encore is installed without its source; pass --clone DIR");
  require_source(clone, code.commit);
  require_diff(code, build.with_diff);
  const fs::path folder = build_folder(code);
  if (!fs::exists(folder / "exp")) add_work_tree(clone, code, folder);
  app.events.noticed("building the recorded commit in " + folder.string());
  const runner::ProcessEnd end = runner::run_attached(folder / "exp", {"--backend", build.backend, "build"});
  if (!end.success()) throw Error("the recorded commit could not be built in " + folder.string());
  return folder / "build" / build.backend / "bin" / "exp";
}

}  // namespace encore::app
