// SPDX-License-Identifier: BSD-3-Clause
// Implements vectors.hpp: means, analogies and nearest neighbours of vectors, for the worker's embed and for
// `exp quantize`. Sums are in double and in one order, so that equal vectors give equal answers everywhere;
// keep both. Read vectors.hpp first.
#include "infer/vectors.hpp"

#include <algorithm>
#include <cmath>
#include <tuple>

#include <encore/error.hpp>

namespace encore::infer {
namespace {

double dot(std::span<const float> a, std::span<const float> b) {
  double sum = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += static_cast<double>(a[i]) * static_cast<double>(b[i]);
  return sum;
}

double inverse_length(std::span<const float> a) {
  const double length = std::sqrt(dot(a, a));
  return length > 0.0 ? 1.0 / length : 0.0;
}

}  // namespace

void Vectors::append(const Vectors& more) {
  ENCORE_REQUIRE(size() == 0 || width == more.width, "vectors of one width");
  width = more.width;
  values.insert(values.end(), more.values.begin(), more.values.end());
}

void MeanVector::add(std::span<const float> row) {
  for (std::size_t i = 0; i < sums_.size(); ++i) sums_[i] += static_cast<double>(row[i]);
  rows_ += 1.0;
}

void MeanVector::finish(std::span<float> to) {
  for (std::size_t i = 0; i < sums_.size(); ++i) to[i] = static_cast<float>(sums_[i] / std::max(rows_, 1.0));
  sums_.assign(sums_.size(), 0.0);
  rows_ = 0.0;
}

std::vector<float> analogy(std::span<const float> a, std::span<const float> b, std::span<const float> c) {
  const double of_a = inverse_length(a), of_b = inverse_length(b), of_c = inverse_length(c);
  std::vector<float> direction;
  for (std::size_t i = 0; i < a.size(); ++i)
    direction.push_back(static_cast<float>(of_a * static_cast<double>(a[i]) -
                                           of_b * static_cast<double>(b[i]) +
                                           of_c * static_cast<double>(c[i])));
  return direction;
}

double largest_distance(const Vectors& vectors, const Vectors& others) {
  ENCORE_REQUIRE(vectors.size() == others.size(), "as many vectors");
  double largest = 0.0;
  for (std::size_t i = 0; i < vectors.size(); ++i) {
    const double lengths = inverse_length(vectors[i]) * inverse_length(others[i]);
    largest = std::max(largest, 1.0 - dot(vectors[i], others[i]) * lengths);
  }
  return largest;
}

std::vector<Neighbour> nearest(std::span<const float> query, const Vectors& candidates,
                               std::span<const std::string> texts, std::size_t count,
                               const std::set<std::size_t>& without) {
  ENCORE_REQUIRE(texts.size() == candidates.size(), "a text for each candidate");
  const double of_query = inverse_length(query);
  std::vector<Neighbour> all;
  for (std::size_t i = 0; i < candidates.size(); ++i)
    if (!without.contains(i))
      all.push_back({i, dot(query, candidates[i]) * (of_query * inverse_length(candidates[i]))});
  const auto before = [&](const Neighbour& a, const Neighbour& b) {
    return std::tuple(-a.similarity, std::string_view(texts[a.number]), a.number) <
           std::tuple(-b.similarity, std::string_view(texts[b.number]), b.number);
  };
  const auto end = all.begin() + static_cast<std::ptrdiff_t>(std::min(count, all.size()));
  std::partial_sort(all.begin(), end, all.end(), before);
  all.erase(end, all.end());
  return all;
}

}  // namespace encore::infer
