// SPDX-License-Identifier: BSD-3-Clause
// Tests cached_sha256_of_file() (record/cache_folder.hpp): when it returns the stored hash of a large file,
// and when it reads the file again. A stored hash must never be used for a file that may have changed,
// because hashes are parts of identities.
#include "record/cache_folder.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <ctime>

#include <encore/error.hpp>

#include "base/sha256.hpp"
#include "unit/record/temporary_folder.hpp"

namespace encore::record {
namespace {

namespace fs = std::filesystem;
using testing::TemporaryFolder;

constexpr std::size_t large = std::size_t{5} << 20;

/// A cache of its own, and a file that has just changed. Only the system can set the time of a file's last
/// change (ctime), so the tests pass a later current time instead.
class HashCache : public ::testing::Test {
 protected:
  void SetUp() override {
    ::setenv("ENCORE_CACHE", cache().c_str(), 1);
    testing::write_bytes(file(), std::string(large, 'a'));
  }
  void TearDown() override { ::unsetenv("ENCORE_CACHE"); }

  fs::path cache() const { return folder_ / "cache"; }
  fs::path file() const { return folder_ / "weights"; }
  fs::path entry() const { return cache() / "hashes" / sha256(file().string()); }
  static std::string hash_later(const fs::path& path) {
    return cached_sha256_of_file(path, std::time(nullptr) + 4);
  }

  TemporaryFolder folder_;
};

TEST_F(HashCache, KeepsTheHashOfALargeFileAndBelievesItWhileTheFileIsAsItWas) {
  const std::string hash = hash_later(file());
  EXPECT_EQ(hash, sha256_of_file(file()));
  ASSERT_TRUE(fs::exists(entry()));
  // The answer is the kept hash: the file is not read again.
  std::string kept = testing::read_bytes(entry());
  const std::size_t place = kept.find(hash);
  ASSERT_NE(place, std::string::npos) << kept;
  const std::string other(64, '1');
  testing::write_bytes(entry(), kept.replace(place, other.size(), other));
  EXPECT_EQ(hash_later(file()), other);
}

TEST_F(HashCache, ReadsAgainWhatHasChangedThoughSizeAndTimeWerePutBack) {
  const std::string before = hash_later(file());
  struct stat status = {};
  ASSERT_EQ(::stat(file().c_str(), &status), 0);
  testing::write_bytes(file(), std::string(large, 'b'));
  const timespec times[] = {status.st_atim, status.st_mtim};
  ASSERT_EQ(::utimensat(AT_FDCWD, file().c_str(), times, 0), 0);
  EXPECT_NE(hash_later(file()), before);
  EXPECT_EQ(hash_later(file()), sha256_of_file(file()));
}

TEST_F(HashCache, KeepsNothingOfAFileThatHasJustChangedOrIsSmall) {
  cached_sha256_of_file(file());
  EXPECT_FALSE(fs::exists(entry()));
  const fs::path small = folder_ / "small";
  testing::write_bytes(small, "a few bytes");
  EXPECT_EQ(cached_sha256_of_file(small), sha256("a few bytes"));
  EXPECT_FALSE(fs::exists(cache() / "hashes" / sha256(small.string())));
}

TEST_F(HashCache, IgnoresADamagedEntryAndACacheThatCannotBeWritten) {
  const std::string hash = sha256_of_file(file());
  fs::create_directories(entry().parent_path());
  testing::write_bytes(entry(), "nonsense\n");
  EXPECT_EQ(hash_later(file()), hash);
  EXPECT_NE(testing::read_bytes(entry()), "nonsense\n");
  ::setenv("ENCORE_CACHE", (file() / "below a file").c_str(), 1);
  EXPECT_EQ(hash_later(file()), hash);
}

TEST_F(HashCache, RejectsWhatIsNotAFile) {
  const fs::path missing = folder_ / "missing", pipe = folder_ / "pipe";
  EXPECT_NE(testing::message_of<Error>([&] { cached_sha256_of_file(missing); }).find("cannot read "),
            std::string::npos);
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_NE(testing::message_of<Error>([&] { cached_sha256_of_file(pipe); }).find("cannot read "),
            std::string::npos);
}

}  // namespace
}  // namespace encore::record
