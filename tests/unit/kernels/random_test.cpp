// SPDX-License-Identifier: BSD-3-Clause
// Tests the random numbers of all kernels (framework/sdk/encore/random.hpp): Philox4x32-10 against the known
// answers that Random123 publishes, and the streams made from it. Dropout and initial values come from these
// words, so no word may ever change.
#include "unit/kernels/kernel_test.hpp"

#include <set>

#include <encore/random.hpp>

namespace encore::test {
namespace {

void expect_words(const RandomWords& words, const std::vector<std::uint32_t>& expected) {
  for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(words.word[i], expected[i]) << "word " << i;
}

TEST(Philox, KnownAnswers) {  // Random123's kat_vectors: philox4x32, 10 rounds
  expect_words(philox4x32(0, 0, 0, 0, 0, 0), {0x6627E8D5U, 0xE169C58DU, 0xBC57AC4CU, 0x9B00DBD8U});
  expect_words(philox4x32(0xFFFFFFFFU, 0xFFFFFFFFU, 0xFFFFFFFFU, 0xFFFFFFFFU, 0xFFFFFFFFU, 0xFFFFFFFFU),
               {0x408F276DU, 0x41C83B0EU, 0xA20BC7C6U, 0x6D5451FDU});
  expect_words(philox4x32(0x243F6A88U, 0x85A308D3U, 0x13198A2EU, 0x03707344U, 0xA4093822U, 0x299F31D0U),
               {0xD16CFE09U, 0x94FDCCEBU, 0x5001E420U, 0x24126EA1U});
}

/// GPUs compute with variables of 32 bits and hosts with 64 bits; both must give the same words.
TEST(Philox, HasTheSameWordsInVariablesOfEitherSize) {
  for (std::uint32_t n = 0; n < 1000; ++n) {
    const std::uint32_t a = n * 0x9E3779B9U, b = ~a, c = a ^ (n << 20), d = n;
    const RandomWords narrow = philox4x32_rounds<std::uint32_t>(a, b, c, d, b, a);
    const RandomWords wide = philox4x32_rounds<std::uint64_t>(a, b, c, d, b, a);
    for (int k = 0; k < 4; ++k) ASSERT_EQ(narrow.word[k], wide.word[k]) << n;
  }
}

TEST(RandomStream, EveryChannelOfARowHasAWordOfItsOwn) {
  for (const std::uint32_t width : {1U, 2U, 3U, 4U, 5U, 33U, 130U}) {
    std::set<std::uint32_t> seen;
    for (std::uint32_t channel = 0; channel < width; ++channel)
      seen.insert(Random(RandomKey{1, 2, 3}).word(5, 6, 0, channel, width));
    EXPECT_EQ(seen.size(), width);
  }
}

TEST(RandomStream, UniformNumbersLieInsideTheInterval) {
  EXPECT_GT(uniform(0), 0.0);
  EXPECT_LT(uniform(0xFFFFFFFFU), 1.0);
  double sum = 0.0;
  for (std::uint32_t i = 0; i < 10000; ++i) sum += uniform(Random(RandomKey{1, 2, 3}).words(0, 0, i).word[0]);
  EXPECT_NEAR(sum / 10000.0, 0.5, 0.02);
}

TEST(RandomStream, ExamplesBeyond32BitsDiffer) {
  const Random random(RandomKey{1, 2, 3});
  EXPECT_NE(random.words(1, 0, 0).word[0], random.words((std::int64_t{1} << 32) + 1, 0, 0).word[0]);
}

}  // namespace
}  // namespace encore::test
