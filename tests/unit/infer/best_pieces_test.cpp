// The best pieces of rows of logits, for the narrowest and the widest beam.
#include "infer/best_pieces.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

namespace encore {
namespace {

/// Piece p has the logit p: the last one is the best.
std::vector<std::vector<NextPiece>> best_of(std::int64_t pieces, std::int64_t count) {
  const Device device;
  std::vector<float> values(static_cast<std::size_t>(2 * pieces));
  std::iota(values.begin(), values.begin() + pieces, 0.0F);
  std::copy_n(values.begin(), pieces, values.begin() + pieces);
  const DeviceBuffer memory("logits", values.size() * sizeof(float));
  const Tensor logits(memory.data(), DType::float32, {2, pieces});
  copy_from_host(device, values.data(), logits);
  return BestPieces(device, count).of(logits);
}

TEST(BestPieces, ComeBestFirstWithTheirProbability) {
  for (const std::vector<NextPiece>& row : best_of(3, 2)) {
    ASSERT_EQ(row.size(), 2U);
    EXPECT_EQ(row[0].piece, 2);
    EXPECT_EQ(row[1].piece, 1);
    EXPECT_NEAR(row[0].log_probability, -std::log(1.0 + std::exp(-1.0) + std::exp(-2.0)), 1e-5);
  }
}

TEST(BestPieces, AreNoMoreThanTheVocabularyHas) {
  EXPECT_EQ(best_of(5, 65).front().size(), 5U);
}

TEST(BestPieces, AreEnoughForTheWidestBeam) {
  const std::int64_t widest = 32;
  const std::vector<std::vector<NextPiece>> rows = best_of(100, BeamSearch::candidates(widest) + 1);
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_GE(std::ssize(rows.front()), widest + 2) << "those that continue, the end, and padding";
  EXPECT_EQ(rows.front().front().piece, 99);
}

}  // namespace
}  // namespace encore
