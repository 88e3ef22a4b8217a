// SPDX-License-Identifier: BSD-3-Clause
// Tests read_code_state() (runner/code_state.hpp), which `exp run` stores with every attempt: the commit of
// the repository that holds the experiment file, its uncommitted changes, and an empty result outside of a
// repository. Bundles show the commit and the changes, so both must be complete.
#include "runner/code_state.hpp"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <fstream>

#include <encore/error.hpp>

#include "runner/worker_process.hpp"

namespace encore::runner {
namespace {

class CodeStateTest : public ::testing::Test {
 protected:
  CodeStateTest() {
    std::string pattern = (std::filesystem::temp_directory_path() / "encore-code-XXXXXX").string();
    folder_ = ::mkdtemp(pattern.data());
  }
  ~CodeStateTest() override { std::filesystem::remove_all(folder_); }

  bool git(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(),
                     {"-C", folder_.string(), "-c", "user.name=a", "-c", "user.email=a@example.org"});
    try {
      return run_program("git", arguments).end.success();
    } catch (const Error&) {
      return false;
    }
  }
  void write(const std::string& text) { std::ofstream(folder_ / "a.toml") << text; }

  std::filesystem::path folder_;
};

TEST_F(CodeStateTest, IsEmptyOutsideOfARepository) {
  const CodeState state = read_code_state(folder_);
  EXPECT_EQ(state.commit, "");
  EXPECT_FALSE(state.changed);
  EXPECT_EQ(read_code_state(folder_ / "missing").commit, "");
}

TEST_F(CodeStateTest, HasTheCommitAndTheChangesSinceThen) {
  if (!git({"init", "-q"})) GTEST_SKIP() << "there is no git";
  EXPECT_EQ(read_code_state(folder_).commit, "") << "no commit yet";
  write("width = 1\n");
  ASSERT_TRUE(git({"add", "a.toml"}));
  ASSERT_TRUE(git({"commit", "-q", "-m", "one"}));
  const CodeState clean = read_code_state(folder_);
  EXPECT_EQ(clean.commit.size(), 40u);
  EXPECT_FALSE(clean.changed);
  EXPECT_EQ(clean.diff, "");
  write("width = 2\n");
  const CodeState changed = read_code_state(folder_);
  EXPECT_EQ(changed.commit, clean.commit);
  EXPECT_TRUE(changed.changed);
  EXPECT_NE(changed.diff.find("+width = 2"), std::string::npos);
}

}  // namespace
}  // namespace encore::runner
