// Cuts of pieces into two others: those that a look at every place finds, without looking at every place.
#include <encore/piece_cuts.hpp>

#include <gtest/gtest.h>

#include <array>
#include <map>
#include <random>
#include <set>

namespace encore {
namespace {

using Cuts = std::vector<std::array<std::int32_t, 3>>;

Cuts found(const std::vector<std::string>& pieces) {
  Cuts cuts;
  for (const PieceCut& cut : cuts_of(pieces)) cuts.push_back({cut.left, cut.right, cut.whole});
  return cuts;
}

/// Cuts at every place of every piece.
Cuts searched(const std::vector<std::string>& pieces) {
  std::map<std::string, std::int32_t> numbers;
  for (std::size_t i = 0; i < pieces.size(); ++i)
    if (!pieces[i].empty()) numbers.emplace(pieces[i], static_cast<std::int32_t>(i));
  Cuts cuts;
  for (std::size_t i = 0; i < pieces.size(); ++i)
    for (std::size_t cut = 1; cut < pieces[i].size(); ++cut) {
      const auto left = numbers.find(pieces[i].substr(0, cut)), right = numbers.find(pieces[i].substr(cut));
      if (left != numbers.end() && right != numbers.end())
        cuts.push_back({left->second, right->second, static_cast<std::int32_t>(i)});
    }
  return cuts;
}

TEST(PieceCuts, AreThoseOfASearchAtEveryPlace) {
  std::mt19937 random(1);
  std::size_t all = 0;
  for (int i = 0; i < 3000; ++i) {
    std::set<std::string> drawn = {""};
    const unsigned letters = 1 + random() % 3;
    for (std::size_t left = random() % 40; left > 0; --left) {
      std::string piece;
      for (std::size_t size = 1 + random() % 8; size > 0; --size)
        piece += static_cast<char>((random() % 2 == 0 ? 'a' : '\x80') + random() % letters);
      drawn.insert(piece);
    }
    std::vector<std::string> pieces(drawn.begin(), drawn.end());
    std::shuffle(pieces.begin(), pieces.end(), random);
    ASSERT_EQ(found(pieces), searched(pieces));
    all += found(pieces).size();
  }
  EXPECT_GT(all, 5000U);
  EXPECT_TRUE(cuts_of({}).empty());
}

/// A search at every place of such a piece would read 2^45 bytes.
TEST(PieceCuts, OfAPieceOfMegabytes) {
  std::vector<std::string> pieces = {"a", "b", std::string(std::size_t{1} << 23, 'a') + "b"};
  EXPECT_TRUE(cuts_of(pieces).empty());
  pieces.push_back(std::string(std::size_t{1} << 23, 'a'));
  EXPECT_EQ(found(pieces), (Cuts{{3, 1, 2}}));
}

}  // namespace
}  // namespace encore
