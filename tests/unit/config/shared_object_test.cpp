// SPDX-License-Identifier: BSD-3-Clause
// Tests shared_object_problem() (config/manifest.hpp), with which the catalogue checks a plugin's file
// without loading it: missing, cut off, a pipe, or not a 64-bit shared object. Loading a file that was cut
// can end the process, so it must be rejected before. The bytes come from elf_file.hpp. The words of messages
// may change.
#include "config/manifest.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "elf_file.hpp"

namespace encore::config {
namespace {

class SharedObjectTest : public ::testing::Test {
 protected:
  SharedObjectTest()
      : file_(std::filesystem::path(::testing::TempDir()) /
              ("shared_object_" + std::to_string(::getpid()) + ".so")) {}
  ~SharedObjectTest() override { std::filesystem::remove(file_); }

  /// Returns the message about a file with these bytes; empty if it is accepted.
  std::string problem(const std::string& bytes) const {
    sample::write_file(file_, bytes);
    return shared_object_problem(file_);
  }
  std::string name() const { return file_.string(); }

  std::filesystem::path file_;
};

TEST_F(SharedObjectTest, AWholeOneIsFine) {
  EXPECT_EQ(problem(sample::elf_file()), "");
}

TEST_F(SharedObjectTest, AMissingOneIsSaidToBeMissing) {
  EXPECT_EQ(
      shared_object_problem(file_),
      name() + ": there is a manifest but no such file; build the plugin again, or remove its manifest");
}

TEST_F(SharedObjectTest, OneThatWasCutReportsItsSize) {
  const std::string whole = sample::elf_file(2);
  EXPECT_EQ(problem(whole.substr(0, 100)),
            name() + ": is cut off at 100 of 192 bytes; build it again or copy it whole");
  EXPECT_EQ(problem(whole.substr(0, 191)),
            name() + ": is cut off at 191 of 192 bytes; build it again or copy it whole");
  EXPECT_EQ(problem(whole.substr(0, 10)),
            name() + ": is cut off at 10 of 64 bytes; build it again or copy it whole");
}

TEST_F(SharedObjectTest, APipeIsNotWaitedFor) {
  ASSERT_EQ(::mkfifo(file_.c_str(), 0600), 0);
  EXPECT_EQ(shared_object_problem(file_),
            name() +
                ": cannot be read: it is a pipe, which may never end; write what comes through it to a "
                "file, and name that");
}

TEST_F(SharedObjectTest, OtherFilesAreNone) {
  const std::string none = name() + ": is not a shared object (not an ELF file); build the plugin again";
  EXPECT_EQ(problem(""), none);
  EXPECT_EQ(problem("version https://git-lfs.github.com/spec/v1\n"), none);
  std::string program = sample::elf_file();
  program[EI_CLASS] = ELFCLASS32;
  EXPECT_EQ(problem(program),
            name() + ": is an ELF file but not a 64-bit shared object; build the plugin again");
}

}  // namespace
}  // namespace encore::config
