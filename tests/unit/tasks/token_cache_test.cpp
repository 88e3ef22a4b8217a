// SPDX-License-Identifier: BSD-3-Clause
// Tests TokenCache (tasks/token_cache.hpp), the folder of encoded data sets: it returns the stored set or
// nothing, also if a bit is damaged or if other processes write at the same time. A problem of the cache must
// never stop a run.
#include "tasks/token_cache.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>

#include <encore/error.hpp>

namespace {

namespace fs = std::filesystem;
using encore::record::TensorSlice;
using encore::tasks::Notes;
using encore::tasks::TokenCache;

constexpr std::array<std::int32_t, 4> some_values = {5, -1, 7, 123456789};

class TokenCacheTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / ("encore_tokens_" + std::to_string(::getpid()) + "_" +
                                           ::testing::UnitTest::GetInstance()->current_test_info()->name());
    fs::remove_all(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  static void save(const encore::tasks::TokenCache& cache, const std::string& key, Notes& notes) {
    const encore::record::TensorSlice values{
        "values", encore::DType::int32, {4}, std::as_bytes(std::span(some_values))};
    cache.save(key, {values}, {{"labels", "O B-X"}}, notes);
  }
  /// Returns whether the cache has the content that was saved under the key.
  bool is_there(const encore::tasks::TokenCache& cache, const std::string& key) {
    const auto file = cache.load(key, notes_);
    if (!file) return false;
    const auto bytes = file->tensor("values").bytes;
    EXPECT_EQ(file->text("labels"), "O B-X");
    EXPECT_EQ(std::vector<std::byte>(bytes.begin(), bytes.end()),
              std::vector<std::byte>(std::as_bytes(std::span(some_values)).begin(),
                                     std::as_bytes(std::span(some_values)).end()));
    return true;
  }

  fs::path folder_;
  Notes notes_;
};

std::string content_of(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

void write(const fs::path& path, const std::string& content) {
  std::ofstream(path, std::ios::binary) << content;
}

TEST_F(TokenCacheTest, GivesBackWhatWasSavedUnderTheSameKeyOnly) {
  const encore::tasks::TokenCache cache(folder_ / "deep" / "tokens");
  EXPECT_FALSE(is_there(cache, "a"));
  save(cache, "a", notes_);
  EXPECT_TRUE(is_there(cache, "a"));
  EXPECT_FALSE(is_there(cache, "b"));
  EXPECT_TRUE(notes_.empty()) << notes_.front();
}

TEST_F(TokenCacheTest, NoticesEveryFlippedBit) {
  const encore::tasks::TokenCache cache(folder_);
  save(cache, "key", notes_);
  const fs::path path = cache.path_of("key");
  const std::string whole = content_of(path);
  for (std::size_t at = 0; at < whole.size(); ++at) {
    std::string damaged = whole;
    damaged[at] = static_cast<char>(damaged[at] ^ (1 << (at % 8)));
    write(path, damaged);
    notes_.clear();
    const auto file = cache.load("key", notes_);
    if (file) {  // only blanks that pad the header may change into other white space of JSON
      EXPECT_TRUE(is_there(cache, "key")) << "byte " << at;
      EXPECT_EQ(whole[at], ' ') << "byte " << at;
      continue;
    }
    ASSERT_EQ(notes_.size(), 1u) << "byte " << at;
    EXPECT_NE(
        notes_[0].find("encoding again, because a file of the token cache is damaged: " + path.string()),
        std::string::npos)
        << notes_[0];
    EXPECT_FALSE(fs::exists(path)) << "byte " << at;
  }
}

TEST_F(TokenCacheTest, NoticesEveryTruncation) {
  const encore::tasks::TokenCache cache(folder_);
  save(cache, "key", notes_);
  const fs::path path = cache.path_of("key");
  const std::string whole = content_of(path);
  for (std::size_t size = 0; size < whole.size(); size += 3) {
    write(path, whole.substr(0, size));
    notes_.clear();
    EXPECT_EQ(cache.load("key", notes_), nullptr) << size << " bytes";
    EXPECT_EQ(notes_.size(), 1u) << size << " bytes";
  }
}

TEST_F(TokenCacheTest, RefusesTheFileOfAnotherKey) {
  const encore::tasks::TokenCache cache(folder_);
  save(cache, "a", notes_);
  fs::rename(cache.path_of("a"), cache.path_of("b"));
  EXPECT_FALSE(is_there(cache, "b"));
  ASSERT_EQ(notes_.size(), 1u);
  EXPECT_NE(notes_[0].find("its content is not what was written"), std::string::npos) << notes_[0];
}

TEST_F(TokenCacheTest, AFolderThatCannotBeWrittenIsReportedWithoutAnError) {
  fs::create_directories(folder_);
  write(folder_ / "file", "");
  const encore::tasks::TokenCache cache(folder_ / "file" / "tokens");
  EXPECT_FALSE(is_there(cache, "key"));
  save(cache, "key", notes_);
  ASSERT_EQ(notes_.size(), 1u);
  EXPECT_NE(notes_[0].find("the token cache could not be written, the next run encodes again: "),
            std::string::npos)
      << notes_[0];
}

TEST_F(TokenCacheTest, WithoutAFolderNothingIsKept) {
  const encore::tasks::TokenCache cache{fs::path()};
  save(cache, "key", notes_);
  EXPECT_FALSE(is_there(cache, "key"));
  EXPECT_TRUE(notes_.empty());
}

TEST_F(TokenCacheTest, AMappedSetOutlivesItsFile) {
  const encore::tasks::TokenCache cache(folder_);
  save(cache, "key", notes_);
  const auto file = cache.load("key", notes_);
  save(cache, "key", notes_);
  fs::remove_all(folder_);
  EXPECT_EQ(file->text("labels"), "O B-X");
  EXPECT_EQ(static_cast<int>(file->tensor("values").bytes[0]), 5);
}

TEST_F(TokenCacheTest, KeepsTheMostRecentlyUsedFiles) {
  const encore::tasks::TokenCache roomy(folder_);
  for (const std::string key : {"a", "b", "c"}) save(roomy, key, notes_);
  const auto bytes = fs::file_size(roomy.path_of("a"));
  const auto now = fs::file_time_type::clock::now();
  fs::last_write_time(roomy.path_of("a"), now - std::chrono::hours(3));
  fs::last_write_time(roomy.path_of("b"), now - std::chrono::hours(2));
  fs::last_write_time(roomy.path_of("c"), now - std::chrono::hours(1));
  EXPECT_TRUE(is_there(roomy, "a"));  // used now
  const encore::tasks::TokenCache narrow(folder_, bytes * 2);
  save(narrow, "d", notes_);
  EXPECT_TRUE(is_there(narrow, "a"));
  EXPECT_FALSE(is_there(narrow, "b"));
  EXPECT_FALSE(is_there(narrow, "c"));
  EXPECT_TRUE(is_there(narrow, "d"));
}

TEST_F(TokenCacheTest, RemovesWhatAKilledWriterLeftADayAgo) {
  const encore::tasks::TokenCache cache(folder_);
  save(cache, "a", notes_);
  const fs::path old = cache.path_of("b").string() + ".4711-1",
                 young = cache.path_of("b").string() + ".4711-2";
  write(old, "half");
  write(young, "half");
  fs::last_write_time(old, fs::file_time_type::clock::now() - std::chrono::hours(25));
  save(cache, "c", notes_);
  EXPECT_FALSE(fs::exists(old));
  EXPECT_TRUE(fs::exists(young));
}

TEST_F(TokenCacheTest, WritersAtTheSameTimeLeaveOneWholeFile) {
  const encore::tasks::TokenCache cache(folder_);
  std::array<Notes, 8> notes;
  {
    std::vector<std::jthread> writers;
    for (Notes& each : notes)
      writers.emplace_back([&] {
        for (int i = 0; i < 5; ++i) save(cache, "key", each);
      });
  }
  for (const Notes& each : notes) EXPECT_TRUE(each.empty()) << each.front();
  EXPECT_TRUE(is_there(cache, "key"));
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()), 1);
}

TEST_F(TokenCacheTest, UsesTheFolderOfTheEnvironment) {
  const auto place = [](const char* own, const char* shared, const char* home) {
    ::setenv("ENCORE_CACHE", own, 1);
    ::setenv("XDG_CACHE_HOME", shared, 1);
    ::setenv("HOME", home, 1);
    return encore::tasks::TokenCache::standard().path_of("key").parent_path().string();
  };
  EXPECT_EQ(place("/own", "/shared", "/home/me"), "/own/tokens");
  EXPECT_EQ(place("", "/shared", "/home/me"), "/shared/encore/tokens");
  EXPECT_EQ(place("", "", "/home/me"), "/home/me/.cache/encore/tokens");
  EXPECT_EQ(place("", "", ""), "");
}

}  // namespace
