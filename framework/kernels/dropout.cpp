// Dropout and dropout + residual sum.
#include "kernels/check.hpp"
#include "kernels/dropout_rows.hpp"

namespace encore::kernels {
namespace {

/// y = factor * x (+ residual). `picked` is empty, or says which row of `rows` each row of x is.
template <class T, bool Add>
void dropout_rows(const Device& device, const char* label, const RowSet& rows, const DropoutDraw& draw,
                  Tensor picked, Tensor x, Tensor residual, Tensor y) {
  const std::int64_t width = x.extent(1);
  const std::int32_t* places = picked ? elements<std::int32_t>(picked) : nullptr;
  const std::int64_t last = rows.size.tokens - 1;
  const T* in = elements<T>(x);
  const T* added = Add ? elements<T>(residual) : nullptr;
  T* out = elements<T>(y);
  const DropoutRows<T> factors(&rows, draw);
  for_rows(
      device, label, x.extent(0), KOKKOS_LAMBDA(const Row& row) {
        const std::int64_t start = row.index * width;
        // A sequence without rows at the end of a batch begins behind the last row.
        const std::int64_t place = places != nullptr ? std::int64_t{places[row.index]} : row.index;
        const std::int64_t drawn = place < last ? place : last;
        factors.template apply<Add>(row, drawn, width, in + start, Add ? added + start : nullptr,
                                    out + start);
      });
}

}  // namespace

void dropout(const Device& device, const RowSet& rows, RandomKey key, double probability, Tensor x,
             Tensor y) {
  check("x", x, x.dtype, {rows.size.tokens, x.extent(1)});
  dropout(device, rows, {}, key, probability, x, y);
}

void dropout(const Device& device, const RowSet& rows, Tensor picked, RandomKey key, double probability,
             Tensor x, Tensor y) {
  check_rank("x", x, 2);
  if (picked) check("picked", picked, DType::int32, {x.extent(0)});
  check("y", y, x.dtype, {x.extent(0), x.extent(1)});
  if (probability == 0.0 || rows.size.tokens == 0) {
    if (x.data != y.data) copy(device, x, y);
    return;
  }
  dispatch(x.dtype, [&](auto type) {
    dropout_rows<decltype(type), false>(device, "encore::dropout", rows, {probability, key}, picked, x, {},
                                        y);
  });
}

void dropout_add(const Device& device, const RowSet& rows, RandomKey key, double probability, Tensor x,
                 Tensor residual, Tensor y) {
  check("x", x, x.dtype, {rows.size.tokens, x.extent(1)});
  check("residual", residual, x.dtype, {x.extent(0), x.extent(1)});
  check("y", y, x.dtype, {x.extent(0), x.extent(1)});
  const char* label = probability == 0.0 ? "encore::residual_add" : "encore::dropout_add";
  dispatch(x.dtype, [&](auto type) {
    dropout_rows<decltype(type), true>(device, label, rows, {probability, key}, {}, x, residual, y);
  });
}

}  // namespace encore::kernels
