// SPDX-License-Identifier: BSD-3-Clause
// Tests the file that keeps vectors of an interrupted `exp index` (app/kept_vectors.hpp): it is read back,
// what a killed process has left at its end is dropped, and so are vectors of other weights.
#include "app/kept_vectors.hpp"

#include <gtest/gtest.h>

#include "unit/record/temporary_folder.hpp"

namespace encore::app {
namespace {

using testing::TemporaryFolder;

const IndexEncoder minilm{.run = "minilm", .weights = "0123"};
using Vector = std::vector<float>;

void write_three(const std::filesystem::path& file) {
  KeptVectors kept(file, minilm);
  for (const char* text : {"a", "b", "c"}) kept.add(text, {1.0F, 0.5F, static_cast<float>(text[0])});
  kept.flush();
}

TEST(KeptVectors, AreReadBack) {
  const TemporaryFolder folder;
  const std::filesystem::path file = folder / "x.vectors";
  write_three(file);
  KeptVectors kept(file, minilm);
  EXPECT_EQ(kept.size(), 3U);
  EXPECT_EQ(kept.width(), 3U);
  EXPECT_TRUE(kept.has("b"));
  EXPECT_FALSE(kept.has("d"));
  EXPECT_EQ(kept.vector_of("b"), (Vector{1.0F, 0.5F, 98.0F}));
  kept.add("d", {2.0F, 2.0F, 2.0F});
  kept.flush();
  EXPECT_EQ(kept.vector_of("d"), (Vector{2.0F, 2.0F, 2.0F}));
  EXPECT_EQ(testing::message_of<Error>([&] { kept.add("e", {1.0F}); }),
            "the model gave a vector of width 1: expected 3");
  EXPECT_EQ(KeptVectors(file, minilm).size(), 4U);
  kept.remove();
  EXPECT_FALSE(std::filesystem::exists(file));
}

TEST(KeptVectors, EndWhereAKilledProcessStopped) {
  const TemporaryFolder folder;
  const std::filesystem::path file = folder / "x.vectors";
  write_three(file);
  const std::string whole = testing::read_bytes(file);
  for (std::size_t bytes = 0; bytes < whole.size(); ++bytes) {
    testing::write_bytes(file, whole.substr(0, bytes));
    KeptVectors kept(file, minilm);
    EXPECT_LT(kept.size(), 3U) << bytes;
    for (const char* text : {"a", "b"})
      if (kept.has(text)) {
        EXPECT_EQ(kept.vector_of(text)[2], static_cast<float>(text[0])) << bytes;
      }
    kept.add("z", {3.0F, 3.0F, 3.0F});
    kept.flush();
    EXPECT_EQ(KeptVectors(file, minilm).vector_of("z"), (Vector{3.0F, 3.0F, 3.0F})) << bytes;
  }
}

TEST(KeptVectors, DropRecordsThatWereChanged) {
  const TemporaryFolder folder;
  const std::filesystem::path file = folder / "x.vectors";
  write_three(file);
  const std::string whole = testing::read_bytes(file);
  for (std::size_t at = 0; at < whole.size(); ++at) {
    std::string changed = whole;
    changed[at] = static_cast<char>(changed[at] ^ 1);
    testing::write_bytes(file, changed);
    KeptVectors kept(file, minilm);
    EXPECT_LT(kept.size(), 3U) << at;
    for (const char* text : {"a", "b", "c"})
      if (kept.has(text)) {
        EXPECT_EQ(kept.vector_of(text)[2], static_cast<float>(text[0])) << at;
      }
  }
}

TEST(KeptVectors, OfOtherWeightsAreDropped) {
  const TemporaryFolder folder;
  const std::filesystem::path file = folder / "x.vectors";
  write_three(file);
  const KeptVectors other(file, {.run = "minilm", .weights = "4567"});
  EXPECT_EQ(other.size(), 0U);
  EXPECT_FALSE(std::filesystem::exists(file));
}

}  // namespace
}  // namespace encore::app
