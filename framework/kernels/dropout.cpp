// SPDX-License-Identifier: BSD-3-Clause
// The kernels dropout, y (N, C) = keep(x) / (1 - p), and dropout_add, y = residual + dropout(x)
// (encore/kernels.hpp). Nothing is kept: backward draws the same mask from (example, position, channel).
// Layers, heads and the residual sum (model/residual.hpp) call them. Read dropout_rows.hpp first, which draws
// the mask; a change of the draws changes the bits of every run.
#include "kernels/check.hpp"
#include "kernels/dropout_rows.hpp"

namespace encore::kernels {
namespace {

/// Maps each row of x to its row of the row set, by which dropout is drawn.
class DrawnRows {
 public:
  /// `picked` is empty if x has all rows of the row set.
  DrawnRows(const RowSet& rows, const Tensor& picked)
      : places_(picked ? elements<std::int32_t>(picked) : nullptr), last_(rows.size.tokens - 1) {}

  KOKKOS_FORCEINLINE_FUNCTION std::int64_t of(std::int64_t row) const {
    // A sequence without rows at the end of a batch begins after the last row.
    const std::int64_t place = places_ != nullptr ? std::int64_t{places_[row]} : row;
    return place < last_ ? place : last_;
  }

 private:
  const std::int32_t* places_;
  std::int64_t last_;
};

#if !ENCORE_HOST_BACKEND

/// Applies dropout to a row in the registers of a GPU's warp.
template <class T, int Width, bool Add>
void dropout_in_registers(const Device& device, const char* label, const RowSet& rows,
                          const DropoutDraw& draw, Tensor picked, Tensor x, Tensor residual, Tensor y) {
  using S = Sum<T>;
  const DrawnRows drawn(rows, picked);
  const T* in = elements<T>(x);
  const T* added = Add ? elements<T>(residual) : nullptr;
  T* out = elements<T>(y);
  const DropoutRows<T> dropout(&rows, draw);
  for_rows(
      device, label, x.extent(0), KOKKOS_LAMBDA(const Row& row) {
        const LaneRow<Width> lanes(row);
        S values[LaneRow<Width>::size], factors[LaneRow<Width>::size], others[LaneRow<Width>::size];
        lanes.load(in + row.index * Width, values);
        if (Add) lanes.load(added + row.index * Width, others);
        dropout.draw(lanes, drawn.of(row.index), factors);
        lanes.each([&](const int n) {
          values[n] *= factors[n];
          if (Add) values[n] += others[n];
        });
        lanes.store(values, out + row.index * Width);
      });
}

#endif

/// Computes y = factor * x (+ residual). `picked` is empty, or says which row of `rows` each row of x is.
template <class T, bool Add>
void dropout_rows(const Device& device, const char* label, const RowSet& rows, const DropoutDraw& draw,
                  Tensor picked, Tensor x, Tensor residual, Tensor y) {
#if !ENCORE_HOST_BACKEND
  const auto in_registers = [&](auto width) {
    dropout_in_registers<T, decltype(width)::value, Add>(device, label, rows, draw, picked, x, residual, y);
  };
  if (with_lane_rows<T>({x, residual, y}, in_registers)) return;
#endif
  const std::int64_t width = x.extent(1);
  const DrawnRows drawn(rows, picked);
  const T* in = elements<T>(x);
  const T* added = Add ? elements<T>(residual) : nullptr;
  T* out = elements<T>(y);
  const DropoutRows<T> factors(&rows, draw);
  for_rows(
      device, label, x.extent(0), KOKKOS_LAMBDA(const Row& row) {
        const std::int64_t start = row.index * width;
        factors.template apply<Add>(row, drawn.of(row.index), width, in + start,
                                    Add ? added + start : nullptr, out + start);
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
