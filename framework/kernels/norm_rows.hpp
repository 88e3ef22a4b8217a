// What both norms do to rows (layer_norm.cpp, rms_norm.cpp): add up a ResidualSum just before a row is
// normalised, pass its gradient through the branch's dropout just after it is computed (the same numbers as
// in passes of their own), and add up the gradients of gain and bias over blocks of rows.
#pragma once

#include "kernels/check.hpp"
#include "kernels/dropout_rows.hpp"

namespace encore::kernels {

/// Adds up the rows of a sum; nothing to do for an x that is there.
template <class T>
class SummedRows {
 public:
  explicit SummedRows(const ResidualSum& x)
      : trunk_(elements<T>(x.trunk)),
        sum_(x.branch ? elements<T>(x.branch) : trunk_),
        width_(x.trunk.extent(1)),
        dropout_(x.rows, x.dropout) {}

  /// Row r of x.
  KOKKOS_FORCEINLINE_FUNCTION const T* add_up(const Row& row, std::int64_t r) const {
    T* sum = sum_ + r * width_;
    if (sum_ != trunk_) {
      dropout_.template apply<true>(row, r, width_, sum, trunk_ + r * width_, sum);
      row.barrier();
    }
    return sum;
  }

 private:
  T* trunk_;
  T* sum_;
  std::int64_t width_;
  DropoutRows<T> dropout_;
};

/// Gives the branch of a sum its gradient, row by row; nothing to do where it is the trunk's.
template <class T>
class BranchGradient {
 public:
  explicit BranchGradient(const ResidualSum& dx)
      : branch_(has_own(dx) ? elements<T>(dx.branch) : nullptr),
        width_(dx.trunk.extent(1)),
        dropout_(dx.rows, dx.dropout) {}

  /// Whether trunk and branch have gradients of their own.
  static bool has_own(const ResidualSum& dx) { return dx.branch && dx.branch.data != dx.trunk.data; }

  /// From row r of the trunk's gradient.
  KOKKOS_FORCEINLINE_FUNCTION void set(const Row& row, std::int64_t r, const T* trunk) const {
    if (branch_ == nullptr) return;
    row.barrier();
    dropout_.template apply<false>(row, r, width_, trunk, nullptr, branch_ + r * width_);
  }

 private:
  T* branch_;
  std::int64_t width_;
  DropoutRows<T> dropout_;
};

inline constexpr std::int64_t norm_block_rows = 16;  // rows whose gradients of parameters one task adds up
inline constexpr std::int64_t norm_block_columns = 128;  // columns of which one task then adds up the blocks

/// first (C) += the sum over the blocks of partial[block][0], and second (C), where there is one, of
/// partial[block][1]; partial: (blocks, 1 or 2, C). Each column adds the blocks in their order.
template <class S>
void add_blocks(const Device& device, const char* label, const S* partial, std::int64_t blocks,
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

/// x, or the gradient of x, is of the shape and type of `rows`, (N, C).
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
