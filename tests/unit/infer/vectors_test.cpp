// SPDX-License-Identifier: BSD-3-Clause
// Tests infer/vectors.hpp, the vectors of inputs and words for `exp embed`: nearest() orders by the cosine of
// the angle, and equal ones by text and then by number, so that the output is the same on every machine (keep
// this order); mean vectors are summed in double; analogy() adds directions.
#include "infer/vectors.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace encore::infer {
namespace {

/// Six vectors of width 2, each with the text at the same place of the next list.
const Vectors vectors = {2, {1, 0, /**/ 5, 0, /**/ 0, 2, /**/ -1, 0, /**/ 0, 0, /**/ 3, 3}};
const std::vector<std::string> texts = {"b", "a", "up", "left", "nothing", "between"};

std::vector<std::size_t> numbers(const std::vector<Neighbour>& neighbours) {
  std::vector<std::size_t> numbers;
  for (const Neighbour& neighbour : neighbours) numbers.push_back(neighbour.number);
  return numbers;
}

TEST(Vectors, TheSmallestAngleComesFirstAndEqualOnesByTheirText) {
  const std::vector<float> query = {2, 0};
  const std::vector<Neighbour> all = nearest(query, vectors, texts, 10);
  EXPECT_EQ(numbers(all), (std::vector<std::size_t>{1, 0, 5, 4, 2, 3})) << "0: \"nothing\" before \"up\"";
  EXPECT_DOUBLE_EQ(all[0].similarity, 1.0);
  EXPECT_DOUBLE_EQ(all[2].similarity, std::sqrt(0.5));
  EXPECT_EQ(all[3].similarity, 0.0) << "a vector without a direction";
  EXPECT_DOUBLE_EQ(all[5].similarity, -1.0);
}

TEST(Vectors, AsManyAsAskedForWithoutThoseLeftOut) {
  const std::vector<float> query = {2, 0};
  EXPECT_EQ(numbers(nearest(query, vectors, texts, 2)), (std::vector<std::size_t>{1, 0}));
  EXPECT_EQ(numbers(nearest(query, vectors, texts, 2, {1, 5})), (std::vector<std::size_t>{0, 4}));
  EXPECT_TRUE(nearest(query, Vectors{2}, {}, 3).empty());
}

TEST(Vectors, EqualInputsKeepTheirOrder) {
  const std::vector<std::string> same(texts.size(), "same");
  EXPECT_EQ(numbers(nearest(std::vector<float>{1, 0}, vectors, same, 2)), (std::vector<std::size_t>{0, 1}));
}

TEST(Vectors, AMeanAddsRowsInDouble) {
  MeanVector mean(2);
  mean.add(std::vector<float>{1e8F, 1});
  mean.add(std::vector<float>{1, 2});
  mean.add(std::vector<float>{-1e8F, 6});
  std::vector<float> found(2);
  mean.finish(found);
  EXPECT_EQ(found, (std::vector<float>{static_cast<float>(1.0 / 3.0), 3}));
  mean.add(std::vector<float>{4, 5});
  mean.finish(found);
  EXPECT_EQ(found, (std::vector<float>{4, 5})) << "the next mean starts from zero";
}

TEST(Vectors, AnAnalogyAddsDirectionsNotLengths) {
  const std::vector<float> a = {10, 0}, b = {0, 1}, c = {0, 4};
  EXPECT_EQ(analogy(a, b, c), (std::vector<float>{1, 0}));
}

TEST(Vectors, TakeOthersBehindThem) {
  Vectors all;
  all.append({2, {1, 2}});
  all.append({2, {3, 4}});
  EXPECT_EQ(all.size(), 2u);
  EXPECT_EQ(all[1][0], 3.0F);
}

}  // namespace
}  // namespace encore::infer
