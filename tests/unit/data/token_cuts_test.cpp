// SPDX-License-Identifier: BSD-3-Clause
// Tests cuts_of() (framework/sdk/encore/token_cuts.hpp): all ways to cut a token of a vocabulary into two
// other tokens of it. The tokenizer byte_bpe and the reader of merges
// (framework/pretrained/byte_bpe_files.cpp) call it. The result must be that of a search at every place of
// every token, in the same order, without the time of that search.
#include <encore/token_cuts.hpp>

#include <gtest/gtest.h>

#include <array>
#include <map>
#include <random>
#include <set>

namespace encore::data {
namespace {

using Cuts = std::vector<std::array<std::int32_t, 3>>;

/// Returns the cuts of cuts_of(), each as {left, right, whole}, by token number.
Cuts found(const std::vector<std::string>& tokens) {
  Cuts cuts;
  for (const TokenCut& cut : cuts_of(tokens)) cuts.push_back({cut.left, cut.right, cut.whole});
  return cuts;
}

/// Returns the same by a search at every place of every token.
Cuts searched(const std::vector<std::string>& tokens) {
  std::map<std::string, std::int32_t> numbers;
  for (std::size_t i = 0; i < tokens.size(); ++i)
    if (!tokens[i].empty()) numbers.emplace(tokens[i], static_cast<std::int32_t>(i));
  Cuts cuts;
  for (std::size_t i = 0; i < tokens.size(); ++i)
    for (std::size_t cut = 1; cut < tokens[i].size(); ++cut) {
      const auto left = numbers.find(tokens[i].substr(0, cut)), right = numbers.find(tokens[i].substr(cut));
      if (left != numbers.end() && right != numbers.end())
        cuts.push_back({left->second, right->second, static_cast<std::int32_t>(i)});
    }
  return cuts;
}

TEST(TokenCuts, AreThoseOfASearchAtEveryPlace) {
  std::mt19937 random(1);
  std::size_t all = 0;
  for (int i = 0; i < 3000; ++i) {
    std::set<std::string> drawn = {""};
    const unsigned letters = 1 + random() % 3;
    for (std::size_t left = random() % 40; left > 0; --left) {
      std::string token;
      for (std::size_t size = 1 + random() % 8; size > 0; --size)
        token += static_cast<char>((random() % 2 == 0 ? 'a' : '\x80') + random() % letters);
      drawn.insert(token);
    }
    std::vector<std::string> tokens(drawn.begin(), drawn.end());
    std::shuffle(tokens.begin(), tokens.end(), random);
    ASSERT_EQ(found(tokens), searched(tokens));
    all += found(tokens).size();
  }
  EXPECT_GT(all, 5000U);
  EXPECT_TRUE(cuts_of({}).empty());
}

/// A search at every place of a token of 8 MB would read 2^45 bytes, so this test ends only with the fast
/// way.
TEST(TokenCuts, OfATokenOfMegabytes) {
  std::vector<std::string> tokens = {"a", "b", std::string(std::size_t{1} << 23, 'a') + "b"};
  EXPECT_TRUE(cuts_of(tokens).empty());
  tokens.push_back(std::string(std::size_t{1} << 23, 'a'));
  EXPECT_EQ(found(tokens), (Cuts{{3, 1, 2}}));
}

}  // namespace
}  // namespace encore::data
