// linear: y = activation(x W^T + b) and its three gradients, as matrix products with an epilogue.
#include <encore/rows.hpp>

#include "kernels/check.hpp"
#include "kernels/gemm.hpp"

namespace encore::kernels {
namespace {

/// dbias (columns) += column sums of dy (rows, columns). Blocks of rows are summed first, so that a long
/// batch keeps its precision and every block is a task; then each column adds up its blocks in order.
template <class T>
void column_sums(const Device& device, Tensor dy, Tensor dbias) {
  using S = Sum<T>;
  constexpr std::int64_t block_rows = 64;
  constexpr std::int64_t block_columns = 128;
  const std::int64_t rows = dy.extent(0);
  const std::int64_t columns = dy.extent(1);
  const std::int64_t row_blocks = (rows + block_rows - 1) / block_rows;
  const std::int64_t column_blocks = (columns + block_columns - 1) / block_columns;
  const T* values = elements<T>(dy);
  S* result = elements<S>(dbias);
  S* partial = static_cast<S*>(device.workspace(static_cast<std::size_t>(row_blocks * columns) * sizeof(S)));
  for_rows(
      device, "encore::column_sums_of_blocks", row_blocks * column_blocks, KOKKOS_LAMBDA(const Row& row) {
        const std::int64_t block = row.index / column_blocks;
        const std::int64_t first = row.index % column_blocks * block_columns;
        const std::int64_t width = columns - first < block_columns ? columns - first : block_columns;
        const std::int64_t end = (block + 1) * block_rows < rows ? (block + 1) * block_rows : rows;
        S* sums = partial + block * columns + first;
        row.each(width, [&](std::int64_t c) { sums[c] = S(0); });
        for (std::int64_t r = block * block_rows; r < end; ++r) {
          const T* in = values + r * columns + first;
          row.each(width, [&](std::int64_t c) { sums[c] += static_cast<S>(in[c]); });
        }
      });
  for_rows(
      device, "encore::column_sums", column_blocks, KOKKOS_LAMBDA(const Row& row) {
        const std::int64_t first = row.index * block_columns;
        const std::int64_t width = columns - first < block_columns ? columns - first : block_columns;
        for (std::int64_t block = 0; block < row_blocks; ++block) {
          const S* sums = partial + block * columns + first;
          row.each(width, [&](std::int64_t c) { result[first + c] += sums[c]; });
        }
      });
}

}  // namespace

void linear(const Device& device, Tensor x, Tensor weight, Tensor bias, Activation function, Tensor y) {
  check_rank("x", x, 2);
  check_rank("weight", weight, 2);
  const std::int64_t rows = x.extent(0);
  const std::int64_t in = x.extent(1);
  const std::int64_t out = weight.extent(0);
  check("weight", weight, x.dtype, {out, in});
  if (bias) check("bias", bias, sum_type(x.dtype), {out});
  check("y", y, x.dtype, {rows, out});
  if (rows == 0) return;
  device.gemm().multiply(device, {x, weight, y, false, true, bias, function == Activation::relu, false});
  if (function == Activation::gelu) activation(device, function, y, y);
}

void linear_backward_input(const Device& device, Tensor dy, Tensor weight, Tensor dx) {
  gemm(device, dy, Transpose::no, weight, Transpose::no, dx);
}

void linear_backward_parameters(const Device& device, Tensor dy, Tensor x, Tensor dweight, Tensor dbias) {
  check_rank("dy", dy, 2);
  check_rank("x", x, 2);
  check("x", x, dy.dtype, {dy.extent(0), x.extent(1)});
  check("dweight", dweight, sum_type(x.dtype), {dy.extent(1), x.extent(1)});
  if (dbias) check("dbias", dbias, sum_type(x.dtype), {dy.extent(1)});
  gemm(device, dy, Transpose::yes, x, Transpose::no, dweight, true);
  if (dbias && dy.extent(0) > 0)
    dispatch(dy.dtype, [&](auto type) { column_sums<decltype(type)>(device, dy, dbias); });
}

}  // namespace encore::kernels
