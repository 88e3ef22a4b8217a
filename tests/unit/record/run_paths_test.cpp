// SPDX-License-Identifier: BSD-3-Clause
// Tests record/run_paths.hpp: which ids and file names of a database, a spool or a specification become paths
// below the store, and which are rejected. They may come from anyone, so no path may lead out of its folder.
#include "record/run_paths.hpp"

#include <gtest/gtest.h>

#include <encore/error.hpp>

#include "unit/record/temporary_folder.hpp"

namespace encore::record {
namespace {

using testing::message_of;
using testing::TemporaryFolder;

TEST(RunPaths, AnIdIsTenHexadecimalDigits) {
  EXPECT_TRUE(is_run_id("0123456789"));
  EXPECT_TRUE(is_run_id("fedcba9876"));
  for (const std::string& text :
       {std::string(), std::string(".."), std::string("."), std::string("/abs/victim"), std::string("a/b"),
        std::string("012345678"), std::string("01234567890"), std::string("0123456789\n"),
        std::string("012345678G"), std::string("ABCDEF0123"),
        std::string("01234\0"
                    "5678",
                    10)})
    EXPECT_FALSE(is_run_id(text)) << text;
}

TEST(RunPaths, RejectsAnInvalidIdWithItsTextAndItsOrigin) {
  const std::string message =
      message_of<Error>([] { require_run_id(std::string("a\0/b", 4), "database encore.db"); });
  EXPECT_NE(message.find("database encore.db holds a run with the id \"a\\u0000/b\""), std::string::npos)
      << message;
  EXPECT_NE(message.find("No file was touched"), std::string::npos) << message;
}

TEST(RunPaths, NamesOfFilesStayBelowTheirFolder) {
  EXPECT_EQ(path_below("/runs/x", "predictions/test.jsonl"), "/runs/x/predictions/test.jsonl");
  EXPECT_EQ(path_below("/runs/x", "..."), "/runs/x/...");
  for (const std::string& name : {std::string(), std::string("/etc/passwd"), std::string("../victim"),
                                  std::string("a/../../b"), std::string(".."), std::string("a\0b", 3)})
    EXPECT_NE(message_of<Error>([&] { path_below("/runs/x", name); }).find("leads out of the folder /runs/x"),
              std::string::npos)
        << name;
}

TEST(RunPaths, TheFolderOfARunHasItsIdForAName) {
  EXPECT_EQ(run_of_folder("/a/encore.db.runs/0123456789"), "0123456789");
  EXPECT_EQ(run_of_folder("/a/encore.db.runs/verify-0123456789-Ab3dEf"), "");
}

TEST(RunPaths, ALinkToAFolderIsNotTheFolder) {
  TemporaryFolder folder;
  std::filesystem::create_directory(folder / "real");
  std::filesystem::create_directory_symlink(folder / "real", folder / "link");
  EXPECT_TRUE(is_own_folder(folder / "real"));
  EXPECT_FALSE(is_own_folder(folder / "link"));
  EXPECT_FALSE(is_own_folder(folder / "none"));
}

}  // namespace
}  // namespace encore::record
