// SPDX-License-Identifier: BSD-3-Clause
// Vectors, a list of embeddings of inputs or words, and nearest(), which finds the vectors with the largest
// cosine to a query. Engine::embed and WordVectors make them, and the worker's embed verb calls nearest().
// Sums must stay in double and in one order, so that equal vectors give equal answers on every machine. Read
// next: embedder.hpp, word_vectors.hpp.
#pragma once

#include <cstddef>
#include <set>
#include <span>
#include <string>
#include <vector>

namespace encore::infer {

/// Vectors of equal width, stored one after the other.
struct Vectors {
  std::size_t width = 0;  ///< C
  std::vector<float> values = {};

  std::size_t size() const { return width == 0 ? 0 : values.size() / width; }
  std::span<const float> operator[](std::size_t i) const {
    return std::span(values).subspan(i * width, width);
  }
  /// Appends others of the same width.
  void append(const Vectors& more);
};

/// Computes the mean of rows of equal width; adds them in double and in their order.
class MeanVector {
 public:
  explicit MeanVector(std::size_t width) : sums_(width) {}
  void add(std::span<const float> row);
  /// Writes the mean into `to` and starts the next one.
  void finish(std::span<float> to);

 private:
  std::vector<double> sums_;
  double rows_ = 0.0;
};

/// Returns the analogy a - b + c of unit vectors: the result is to c as a is to b (Mikolov et al. 2013).
std::vector<float> analogy(std::span<const float> a, std::span<const float> b, std::span<const float> c);

/// Returns the largest distance, 1 - cosine, between vector i of `vectors` and vector i of `others`. The
/// distance is 1 if one of the two is zero.
double largest_distance(const Vectors& vectors, const Vectors& others);

struct Neighbour {
  std::size_t number = 0;   ///< of the candidate
  double similarity = 0.0;  ///< the cosine; 0 where a vector has no direction
};

/// Returns the `count` candidates most similar to the query, or all if there are fewer; ties are sorted by
/// text, then by number. `texts`: of the candidates; `without`: numbers of candidates to leave out.
std::vector<Neighbour> nearest(std::span<const float> query, const Vectors& candidates,
                               std::span<const std::string> texts, std::size_t count,
                               const std::set<std::size_t>& without = {});

}  // namespace encore::infer
