// SPDX-License-Identifier: BSD-3-Clause
// Tests ScratchFolder, the private folder in which bundles are made and unpacked
// (archive/scratch_folder.hpp). It goes with its object; the next process removes the folder of a killed one,
// and must remove nothing else: neither a folder in use, nor one of another machine, nor one reached by a
// link. The tests kill child processes, so they need fork().
#include "archive/scratch_folder.hpp"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>

#include <gtest/gtest.h>

#include "unit/record/temporary_folder.hpp"

namespace encore::archive {
namespace {

namespace fs = std::filesystem;
using testing::read_bytes;
using testing::write_bytes;

/// The file by which a process marks its folder. Other processes, also those of other versions, look for this
/// name.
constexpr const char* mark = "in_use";

class ScratchFolderTest : public ::testing::Test {
 protected:
  void SetUp() override { ::setenv("TMPDIR", place_.path().c_str(), 1); }
  void TearDown() override { ::unsetenv("TMPDIR"); }

  /// Makes a folder with files in a child process that is killed while it uses the folder, and returns its
  /// path.
  fs::path left_behind() const {
    const pid_t child = ::fork();
    if (child == 0) {
      const ScratchFolder folder;
      fs::create_directory(folder.path() / "runs");
      write_bytes(folder.path() / "runs" / "weights", "many bytes");
      ::kill(::getpid(), SIGKILL);
    }
    ::waitpid(child, nullptr, 0);
    for (const fs::directory_entry& entry : fs::directory_iterator(place_.path()))
      if (fs::exists(entry.path() / "runs/weights")) return entry.path();
    return {};
  }

  const testing::TemporaryFolder place_;
};

TEST_F(ScratchFolderTest, GoesWithItsObject) {
  {
    const ScratchFolder folder;
    write_bytes(folder.path() / "file", "content");
    EXPECT_TRUE(fs::exists(folder.path() / mark));
    EXPECT_EQ(fs::status(folder.path()).permissions(), fs::perms::owner_all);
  }
  EXPECT_TRUE(fs::is_empty(place_.path()));
}

TEST_F(ScratchFolderTest, TheNextProcessRemovesTheFolderOfAKilledOne) {
  const fs::path left = left_behind();
  ASSERT_TRUE(fs::exists(left / "runs/weights"));
  const ScratchFolder folder;
  EXPECT_FALSE(fs::exists(left));
  EXPECT_TRUE(fs::exists(folder.path()));
}

TEST_F(ScratchFolderTest, RemovesTheRestOfAKilledRemoval) {
  const fs::path left = left_behind();
  ASSERT_TRUE(fs::remove_all(left / "runs"));
  const ScratchFolder folder;
  EXPECT_FALSE(fs::exists(left));
}

TEST_F(ScratchFolderTest, OneInUseStays) {
  const ScratchFolder first;
  const ScratchFolder second;
  EXPECT_TRUE(fs::exists(first.path() / mark)) << "also in one process";
  const pid_t child = ::fork();
  if (child == 0) {
    { const ScratchFolder third; }
    ::_exit(0);
  }
  ::waitpid(child, nullptr, 0);
  EXPECT_TRUE(fs::exists(first.path() / mark) && fs::exists(second.path() / mark));
}

TEST_F(ScratchFolderTest, AKeptOneStays) {
  fs::path kept;
  {
    ScratchFolder folder;
    folder.keep();
    kept = folder.path();
  }
  const ScratchFolder other;
  EXPECT_TRUE(fs::is_empty(kept)) << "without the mark";
}

TEST_F(ScratchFolderTest, FoldersThatMayBeInUseStay) {
  fs::create_directory(place_ / "encore-bundle-unmarked");
  fs::create_directory(place_ / "elsewhere");
  const fs::path left = left_behind();
  ASSERT_TRUE(fs::exists(left / mark));
  fs::copy_file(left / mark, place_ / "elsewhere" / mark);
  fs::create_directory_symlink("elsewhere", place_ / "encore-bundle-link");
  write_bytes(left / mark, read_bytes(left / mark) + "-other");
  const ScratchFolder folder;
  EXPECT_TRUE(fs::exists(left / "runs/weights")) << "of another machine";
  EXPECT_TRUE(fs::exists(place_ / "elsewhere" / mark)) << "reached by a link";
  EXPECT_TRUE(fs::exists(place_ / "encore-bundle-unmarked"));
}

}  // namespace
}  // namespace encore::archive
