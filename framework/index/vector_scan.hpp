// SPDX-License-Identifier: BSD-3-Clause
// find_nearest_rows(): the exact nearest vectors by a scan of 8-bit copies. document_index.cpp calls it with
// mapped files. A scan of the copies gives each row a score and a proven bound of its rounding error; every
// row that may belong to the nearest ones by these bounds is scored again from its float32 values. So no row
// is missed, and the scores do not depend on processor or threads. The bound and the order of the sums decide
// results, so both must stay.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include <encore/document_index.hpp>

namespace encore::index {

/// Vectors of `width` values with an 8-bit copy: value = code * scale + a rest, and the rests of a row
/// together have at most the length `residuals[row]`.
struct ScannedVectors {
  std::size_t width = 0;
  std::span<const std::int8_t> codes = {};  ///< (rows, width)
  std::span<const float> scales = {};       ///< one for each row
  std::span<const float> residuals = {};    ///< one for each row
  /// The document of each row, never falling; empty: each row is a document.
  std::span<const std::uint32_t> documents = {};
  /// Reads the values of a row, of length 1 or 0 but for rounding. Several threads call it at once. It is a
  /// function, because few rows are read, and pages of a mapped file would stay in memory.
  std::function<void(std::size_t row, std::span<float> values)> read_row = {};

  std::size_t rows() const { return scales.size(); }
};

/// What quantize() computes for a row, beside its codes.
struct RowQuantization {
  float scale = 0.0F, residual = 0.0F;
};

/// Writes the 8-bit copy of a vector: the largest value becomes 127 or -127.
RowQuantization quantize(std::span<const float> vector, std::span<std::int8_t> codes);

/// The widest vector: with more values the products of a row would not fit 32 bits.
inline constexpr std::size_t most_width = 65536;

/// Returns the `depth` rows (or all) with the largest products with the query, by falling score; equal scores
/// are in the order of falling rows. If documents have several rows, returns the first of these rows for each
/// of the `depth` documents. A score is the sum in the order of the values, in double. `threads`: at most
/// this number of threads work; results do not depend on it. `bound_factor` is 1 but in tests, which show
/// with smaller bounds that rows are then missed.
std::vector<IndexHit> find_nearest_rows(const ScannedVectors& vectors, std::span<const float> query,
                                        std::size_t depth, int threads, double bound_factor = 1.0);

}  // namespace encore::index
