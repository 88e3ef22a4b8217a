// SPDX-License-Identifier: BSD-3-Clause
// The parts that both norms share (layer_norm.cpp, rms_norm.cpp): adds up a ResidualSum just before a row is
// normalized, passes its gradient through the branch's dropout just after it is computed (with the bits of
// separate passes), and adds up the gradients of gain and bias over blocks of rows. Both passes must keep
// these bits, because layers call the norms either way.
#pragma once

#include "kernels/block_sums.hpp"
#include "kernels/check.hpp"
#include "kernels/dropout_rows.hpp"
#include "kernels/lane_row.hpp"

namespace encore::kernels {

/// Adds up the rows of a sum. It does nothing if x exists already.
template <class T>
class SummedRows {
 public:
  explicit SummedRows(const ResidualSum& x)
      : trunk_(elements<T>(x.trunk)),
        sum_(x.branch ? elements<T>(x.branch) : trunk_),
        width_(x.trunk.extent(1)),
        dropout_(x.rows, x.dropout) {}

  /// Returns row r of x.
  KOKKOS_FORCEINLINE_FUNCTION const T* add_up(const Row& row, std::int64_t r) const {
    T* sum = sum_ + r * width_;
    if (sum_ != trunk_) {
      dropout_.template apply<true>(row, r, width_, sum, trunk_ + r * width_, sum);
      row.barrier();
    }
    return sum;
  }

#if !ENCORE_HOST_BACKEND
  /// Adds up the sum of a row likewise, and leaves its elements in the registers of the lanes.
  template <int Width, class S>
  KOKKOS_FORCEINLINE_FUNCTION void add_up(const LaneRow<Width>& lanes, std::int64_t r,
                                          S (&x)[LaneRow<Width>::size]) const {
    lanes.load(trunk_ + r * width_, x);
    if (sum_ == trunk_) return;
    S branch[LaneRow<Width>::size], factors[LaneRow<Width>::size];
    lanes.load(sum_ + r * width_, branch);
    dropout_.draw(lanes, r, factors);
    // The value is rounded as it is stored, so that the norm has the bits that it has after another pass.
    lanes.each([&](const int n) { x[n] = static_cast<S>(static_cast<T>(factors[n] * branch[n] + x[n])); });
    lanes.store(x, sum_ + r * width_);
  }
#endif

 private:
  T* trunk_;
  T* sum_;
  std::int64_t width_;
  DropoutRows<T> dropout_;
};

/// Gives the branch of a sum its gradient, row by row. It does nothing if branch and trunk share one
/// gradient.
template <class T>
class BranchGradient {
 public:
  explicit BranchGradient(const ResidualSum& dx)
      : branch_(has_own(dx) ? elements<T>(dx.branch) : nullptr),
        width_(dx.trunk.extent(1)),
        dropout_(dx.rows, dx.dropout) {}

  /// Returns whether trunk and branch have gradients of their own.
  static bool has_own(const ResidualSum& dx) { return dx.branch && dx.branch.data != dx.trunk.data; }

  /// Sets row r of the branch's gradient from row r of the trunk's.
  KOKKOS_FORCEINLINE_FUNCTION void set(const Row& row, std::int64_t r, const T* trunk) const {
    if (branch_ == nullptr) return;
    row.barrier();
    dropout_.template apply<false>(row, r, width_, trunk, nullptr, branch_ + r * width_);
  }

#if !ENCORE_HOST_BACKEND
  /// Gives the branch its gradient likewise, from the lanes' elements of the trunk's gradient, rounded as
  /// they are stored.
  template <int Width, class S>
  KOKKOS_FORCEINLINE_FUNCTION void set(const LaneRow<Width>& lanes, std::int64_t r,
                                       S (&dx)[LaneRow<Width>::size]) const {
    if (branch_ == nullptr) return;
    S factors[LaneRow<Width>::size];
    dropout_.draw(lanes, r, factors);
    lanes.each([&](const int n) { dx[n] = factors[n] * static_cast<S>(static_cast<T>(dx[n])); });
    lanes.store(dx, branch_ + r * width_);
  }
#endif

 private:
  T* branch_;
  std::int64_t width_;
  DropoutRows<T> dropout_;
};

inline constexpr std::int64_t norm_block_rows = 16;  // rows whose gradients of parameters one task adds up
inline constexpr std::int64_t norm_block_columns = 128;  // columns of which one task then adds up the blocks

#if ENCORE_HOST_BACKEND

/// Computes first (C) += the sum over the blocks of partial[block][0], and second (C), if it exists, += that
/// of partial[block][1]; partial: (blocks, 1 or 2, C). Each column adds the blocks in their order.
template <class S>
static void add_blocks(const Device& device, const char* label, const S* partial, std::int64_t blocks,
                       std::int64_t width, S* first, S* second) {
  const std::int64_t stride = second == nullptr ? width : 2 * width;
  for_rows(
      device, label, (width + norm_block_columns - 1) / norm_block_columns, KOKKOS_LAMBDA(const Row& row) {
        const std::int64_t begin = row.index * norm_block_columns;
        const std::int64_t count = width - begin < norm_block_columns ? width - begin : norm_block_columns;
        for (std::int64_t block = 0; block < blocks; ++block) {
          const S* sums = partial + block * stride + begin;
          row.each(count, [&](std::int64_t c) { first[begin + c] += sums[c]; });
          if (second != nullptr)
            row.each(count, [&](std::int64_t c) { second[begin + c] += sums[width + c]; });
        }
      });
}

#else

/// What an element adds to the gradients of gain and bias.
template <class S>
struct NormTerms {
  S gain, bias;
};

/// Returns the rows that a warp walks with them in registers: few while there are too few warps to keep a GPU
/// busy, and then enough that there are few sums.
inline std::int64_t norm_rows_of_warp(std::int64_t rows) {
  constexpr std::int64_t warps = 4096;
  return rows <= warps ? 1 : (rows < norm_block_rows * warps ? (rows + warps - 1) / warps : norm_block_rows);
}

/// Computes, on a GPU, for rows that do not fit a warp's registers: dgain (C) += the sums over the rows of
/// terms_at(row, channel).gain, and dbias, if it exists, += those of .bias; in blocks of rows, whose sums are
/// added in the order of block_sums.hpp.
template <class S, class TermsAt>
static void add_norm_terms(const Device& device, const char* label, std::int64_t rows, std::int64_t width,
                           const TermsAt& terms_at, S* dgain, S* dbias) {
  constexpr std::int64_t piece = 32;  // channels of a warp
  const std::int64_t blocks = (rows + norm_block_rows - 1) / norm_block_rows;
  const std::int64_t pieces = (width + piece - 1) / piece;
  const bool with_bias = dbias != nullptr;
  const BlockSums<S> sums(device, blocks, with_bias ? 2 * width : width);
  for_rows(
      device, "encore::norm_backward_terms", blocks * pieces, KOKKOS_LAMBDA(const Row& row) {
        const std::int64_t block = row.index / pieces, first = row.index % pieces * piece;
        const std::int64_t begin = block * norm_block_rows;
        const std::int64_t end = begin + norm_block_rows < rows ? begin + norm_block_rows : rows;
        S* const to = sums.row(block) + first;
        row.each(width - first < piece ? width - first : piece, [&](std::int64_t c) {
          S gain_sum = S(0), bias_sum = S(0);
          for (std::int64_t r = begin; r < end; ++r) {
            const NormTerms<S> terms = terms_at(r, first + c);
            gain_sum += terms.gain;
            bias_sum += terms.bias;
          }
          to[c] = gain_sum;
          if (with_bias) to[width + c] = bias_sum;
        });
      });
  add_sums<S>(device, label, sums, width, dgain, dbias);
}

#endif

/// Requires that x, or the gradient of x, has the shape and type of `rows`, (N, C).
inline void check_sum(const ResidualSum& x, const Tensor& rows) {
  check("the trunk", x.trunk, rows.dtype, {rows.extent(0), rows.extent(1)});
  if (x.branch) check("the branch", x.branch, rows.dtype, {rows.extent(0), rows.extent(1)});
  if (x.dropout.probability == 0.0) return;
  ENCORE_REQUIRE(x.branch && x.rows != nullptr,
                 "dropout acts on the branch of a sum over the rows of a row set");
  check("the examples of the rows", x.rows->examples, DType::int64, {rows.extent(0)});
  ENCORE_REQUIRE(rows.size() == 0 || x.branch.data != x.trunk.data,
                 "with dropout trunk and branch lie apart");
}

}  // namespace encore::kernels
