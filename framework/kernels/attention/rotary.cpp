// SPDX-License-Identifier: BSD-3-Clause
// The kernel rotary (Su et al. 2021): turns x (N, heads * D) in place. In each head the channels d and d + D
// / 2 are a point in the plane, turned by position * base^(-2 d / D); backward turns by the negative angle,
// nothing is kept. plugins/layers/rotary_attention.cpp calls it. The paper pairs neighbouring channels;
// halves are equivalent up to the order of channels and run along contiguous memory. Parameters in
// checkpoints depend on which channels are paired, so this must stay.
#include <encore/math.hpp>
#include <encore/rows.hpp>

#include "kernels/check.hpp"

namespace encore::kernels {
namespace {

/// Computes sines and cosines (lines, D / 2) in double; line i is for positions[i], or for position i if
/// positions is null; `direction` is 1 or -1.
template <class S>
void rotary_angles(const Device& device, std::int64_t lines, const std::int32_t* positions, std::int64_t half,
                   double log_base, double direction, S* sines, S* cosines) {
  for_rows(
      device, "encore::rotary_angles", lines, KOKKOS_LAMBDA(const Row& row) {
        const auto position = static_cast<double>(positions == nullptr ? row.index : positions[row.index]);
        row.each(half, [&](std::int64_t d) {
          const double rate = math::exp(static_cast<double>(d) * (-log_base / static_cast<double>(half)));
          const math::SineCosine angle = math::sine_cosine(position * rate);
          sines[row.index * half + d] = static_cast<S>(direction * angle.sine);
          cosines[row.index * half + d] = static_cast<S>(angle.cosine);
        });
      });
}

template <class T>
void turn_rows(const Device& device, const RowSet& rows, std::int64_t heads, double base, bool inverse,
               const Slice& x) {
  using S = Sum<T>;
  const std::int64_t size = x.width / heads;
  const std::int64_t half = size / 2;
  const std::int32_t* positions = elements<std::int32_t>(rows.positions);
  // The table of angles has a line for each position if positions begin at 0, as they repeat in every
  // sequence; otherwise a line for each row.
  const bool line_of_row = rows.size.past > 0;
  const std::int64_t lines = line_of_row ? rows.size.tokens : rows.size.longest;
  S* sines = static_cast<S*>(device.workspace(static_cast<std::size_t>(2 * lines * half) * sizeof(S)));
  S* cosines = sines + lines * half;
  rotary_angles(device, lines, line_of_row ? positions : nullptr, half, math::log(base), inverse ? -1.0 : 1.0,
                sines, cosines);
  T* values = elements<T>(x.matrix) + x.first;
  const std::int64_t stride = x.matrix.extent(1);
  for_rows(
      device, "encore::rotary", rows.size.tokens, KOKKOS_LAMBDA(const Row& row) {
        const std::int64_t line = line_of_row ? row.index : positions[row.index];
        const S* sine = sines + line * half;
        const S* cosine = cosines + line * half;
        for (std::int64_t head = 0; head < heads; ++head) {
          T* first = values + row.index * stride + head * size;
          T* second = first + half;
          row.each(half, [&](std::int64_t d) {
            const S x = static_cast<S>(first[d]);
            const S y = static_cast<S>(second[d]);
            first[d] = static_cast<T>(x * cosine[d] - y * sine[d]);
            second[d] = static_cast<T>(x * sine[d] + y * cosine[d]);
          });
        }
      });
}

}  // namespace

void rotary(const Device& device, const RowSet& rows, std::int64_t heads, double base, bool inverse,
            const Slice& x) {
  check("x", x, x.matrix.dtype, rows.size.tokens, x.width);
  ENCORE_REQUIRE(heads >= 1 && x.width % (2 * heads) == 0,
                 std::to_string(heads) + " heads of pairs do not divide x, which is " + describe(x));
  ENCORE_REQUIRE(base >= 1.0, "the base of the angles is at least 1");
  if (rows.size.tokens == 0) return;
  dispatch(x.matrix.dtype,
           [&](auto type) { turn_rows<decltype(type)>(device, rows, heads, base, inverse, x); });
}

}  // namespace encore::kernels
