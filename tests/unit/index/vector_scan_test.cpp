// SPDX-License-Identifier: BSD-3-Clause
// Tests that the scan of 8-bit copies (index/vector_scan.hpp) finds exactly the nearest rows: against a
// scoring of all rows in double, on drawn and adversarial sets, for several widths, depths and numbers of
// threads. Another test shows that the comparison fails if the bound of the rounding error is made too small.
#include "index/vector_scan.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <set>

namespace encore::index {
namespace {

/// Rows with their 8-bit copy.
struct CodedRows {
  std::size_t width = 0;
  std::vector<float> values, scales, residuals;
  std::vector<std::int8_t> codes;

  void add(std::vector<double> row) {
    double squares = 0.0;
    for (const double value : row) squares += value * value;
    std::vector<float> stored;
    for (const double value : row)
      stored.push_back(static_cast<float>(squares > 0.0 ? value / std::sqrt(squares) : 0.0));
    width = stored.size();
    std::vector<std::int8_t> own(width);
    const RowQuantization row_numbers = quantize(stored, own);
    values.insert(values.end(), stored.begin(), stored.end());
    codes.insert(codes.end(), own.begin(), own.end());
    scales.push_back(row_numbers.scale);
    residuals.push_back(row_numbers.residual);
  }
  ScannedVectors view() const {
    return {.width = width,
            .codes = codes,
            .scales = scales,
            .residuals = residuals,
            .read_row = [this](std::size_t number, std::span<float> to) {
              std::ranges::copy(row(number), to.begin());
            }};
  }
  std::vector<float> row(std::size_t number) const {
    const auto first = values.begin() + static_cast<std::ptrdiff_t>(number * width);
    return {first, first + static_cast<std::ptrdiff_t>(width)};
  }
};

std::vector<IndexHit> brute_force(const CodedRows& rows, const std::vector<float>& query, std::size_t depth) {
  std::vector<IndexHit> hits;
  for (std::size_t row = 0; row < rows.scales.size(); ++row) {
    double sum = 0.0;
    for (std::size_t i = 0; i < rows.width; ++i)
      sum += double{rows.values[row * rows.width + i]} * double{query[i]};
    hits.push_back({.position = row, .score = sum});
  }
  std::ranges::sort(hits, [](const IndexHit& a, const IndexHit& b) {
    return a.score != b.score ? a.score > b.score : a.position > b.position;
  });
  hits.resize(std::min(depth, hits.size()));
  return hits;
}

class Draw {
 public:
  explicit Draw(std::uint64_t seed) : words_(seed) {}
  double number() { return static_cast<double>(words_() >> 11U) * 0x1.0p-52 - 1.0; }
  std::size_t below(std::size_t count) { return static_cast<std::size_t>(words_() % count); }
  std::vector<double> vector(std::size_t width) {
    std::vector<double> values(width);
    for (double& value : values) value = number();
    return values;
  }

 private:
  std::mt19937_64 words_;
};

/// The kinds of sets: independent rows; rows near to one another, whose copies are often equal; rows with one
/// large value, so that the copy of the others is coarse; equal rows; rows of zeros among others.
constexpr int kinds = 5;

CodedRows drawn_rows(int kind, std::size_t count, std::size_t width, Draw& draw) {
  CodedRows rows;
  const std::vector<double> center = draw.vector(width);
  for (std::size_t i = 0; i < count; ++i) {
    std::vector<double> row = kind == 3 || kind == 1 ? center : draw.vector(width);
    if (kind == 1)
      for (double& value : row) value += 1e-4 * draw.number();
    if (kind == 2) row[draw.below(width)] = 40.0;
    if (kind == 4 && i % 3 == 0) std::ranges::fill(row, 0.0);
    rows.add(row);
  }
  return rows;
}

std::vector<float> drawn_query(const CodedRows& rows, int kind, Draw& draw) {
  if (kind == 3) return rows.row(0);
  CodedRows query;
  query.add(draw.vector(rows.width));
  return query.row(0);
}

TEST(VectorScan, FindsWhatScoringOfAllRowsFinds) {
  for (std::uint64_t seed = 0; seed < 60; ++seed)
    for (int kind = 0; kind < kinds; ++kind) {
      Draw draw(seed * kinds + static_cast<std::uint64_t>(kind));
      const std::size_t width = 1 + draw.below(70), count = 1 + draw.below(300), depth = 1 + draw.below(12);
      const CodedRows rows = drawn_rows(kind, count, width, draw);
      const std::vector<float> query = drawn_query(rows, kind, draw);
      EXPECT_EQ(find_nearest_rows(rows.view(), query, depth, 1), brute_force(rows, query, depth))
          << "seed " << seed << ", kind " << kind;
    }
}

/// Draws documents of 1 to 4 rows. Some of them lie in two parts of the scan, which have 16,384 rows each.
std::vector<std::uint32_t> drawn_documents(std::size_t rows, Draw& draw) {
  std::vector<std::uint32_t> documents;
  for (std::uint32_t document = 0; documents.size() < rows; ++document)
    documents.resize(std::min(rows, documents.size() + 1 + draw.below(4)), document);
  return documents;
}

TEST(VectorScan, FindsTheFirstRowOfEachDocument) {
  for (int round = 0; round < 60; ++round) {
    Draw draw(static_cast<std::uint64_t>(round));
    const bool is_large = round % 20 == 0;
    const int kind = round % kinds;
    const CodedRows rows = drawn_rows(kind, is_large ? 40'000 : 1 + draw.below(300), 5, draw);
    const std::vector<std::uint32_t> documents = drawn_documents(rows.scales.size(), draw);
    const std::vector<float> query = drawn_query(rows, kind, draw);
    const std::size_t depth = 1 + draw.below(40);
    std::vector<IndexHit> expected;
    std::set<std::uint32_t> seen;
    for (const IndexHit& hit : brute_force(rows, query, rows.scales.size()))
      if (expected.size() < depth && seen.insert(documents[hit.position]).second) expected.push_back(hit);
    ScannedVectors view = rows.view();
    view.documents = documents;
    for (const int threads : {1, 3})
      EXPECT_EQ(find_nearest_rows(view, query, depth, threads), expected) << round;
  }
}

TEST(VectorScan, GivesEqualBitsForAnyNumberOfThreads) {
  Draw draw(7);
  const CodedRows rows = drawn_rows(0, 70'000, 24, draw);
  for (int i = 0; i < 5; ++i) {
    const std::vector<float> query = drawn_query(rows, 0, draw);
    const std::vector<IndexHit> expected = brute_force(rows, query, 50);
    for (const int threads : {1, 2, 3, 4})
      EXPECT_EQ(find_nearest_rows(rows.view(), query, 50, threads), expected) << threads << " threads";
  }
}

// In this set the error of a row nearly reaches its bound: all but one of its values are rounded down by
// nearly half a code, and the query has them alone. The other row is exact, and a little less near.
TEST(VectorScan, MissesARowIfTheBoundIsMadeSmaller) {
  constexpr std::size_t width = 64;
  CodedRows rows;
  std::vector<double> rounded(width, 0.4999 / 127.0), exact(width, 0.0);
  rounded[0] = 1.0;
  exact[0] = 127.0;
  exact[1] = 28.0;
  rows.add(rounded);
  rows.add(exact);
  std::vector<float> query(width, static_cast<float>(1.0 / std::sqrt(width - 1.0)));
  query[0] = 0.0F;
  const std::vector<IndexHit> nearest = brute_force(rows, query, 1);
  ASSERT_EQ(nearest.front().position, 0U);
  EXPECT_EQ(find_nearest_rows(rows.view(), query, 1, 1), nearest);
  EXPECT_EQ(find_nearest_rows(rows.view(), query, 1, 1, 0.8).front().position, 1U);
}

TEST(VectorScan, MissesRowsOfDrawnSetsWithoutABound) {
  int missed = 0;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    Draw draw(seed);
    const CodedRows rows = drawn_rows(2, 300, 32, draw);
    const std::vector<float> query = drawn_query(rows, 2, draw);
    missed += find_nearest_rows(rows.view(), query, 10, 1, 0.0) != brute_force(rows, query, 10) ? 1 : 0;
  }
  EXPECT_GT(missed, 5);
}

TEST(VectorScan, TakesExtremeQueries) {
  Draw draw(3);
  const CodedRows rows = drawn_rows(0, 50, 40, draw);
  const std::vector<float> zeros(40, 0.0F);
  EXPECT_EQ(find_nearest_rows(rows.view(), zeros, 5, 2), brute_force(rows, zeros, 5));
  EXPECT_EQ(find_nearest_rows(rows.view(), zeros, 5, 2).front().position, 49U);
  EXPECT_EQ(find_nearest_rows(rows.view(), rows.row(4), 100, 2).size(), 50U);
  EXPECT_TRUE(find_nearest_rows(rows.view(), zeros, 0, 2).empty());
  EXPECT_TRUE(find_nearest_rows({.width = 40}, zeros, 5, 2).empty());
}

/// A forged index may have values that quantize() never sees.
TEST(VectorScan, RefusesValuesThatAreNotFinite) {
  Draw draw(5);
  CodedRows rows = drawn_rows(0, 20, 8, draw);
  ScannedVectors vectors = rows.view();
  vectors.read_row = [](std::size_t, std::span<float> values) {
    std::ranges::fill(values, std::numeric_limits<float>::quiet_NaN());
  };
  EXPECT_THROW(find_nearest_rows(vectors, rows.row(0), 3, 2), Error);
}

TEST(VectorScan, HasNoOverflowAtTheLargestWidth) {
  CodedRows rows;
  for (const double sign : {1.0, -1.0}) rows.add(std::vector<double>(most_width, sign));
  const std::vector<float> query = rows.row(0);
  const std::vector<IndexHit> hits = find_nearest_rows(rows.view(), query, 2, 1);
  EXPECT_EQ(hits, brute_force(rows, query, 2));
  EXPECT_NEAR(hits.front().score, 1.0, 1e-6);
}

}  // namespace
}  // namespace encore::index
