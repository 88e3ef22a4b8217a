// Rotary positions (Su et al. 2021): in each head of queries and keys the channels d and d + D / 2 are a
// point in the plane, turned by position * base^(-2 d / D). The paper pairs neighbours; halves are the same
// up to the order of a head's channels, which is nowhere fixed, and run along contiguous memory.
#include <encore/math.hpp>
#include <encore/rows.hpp>

#include "kernels/check.hpp"

namespace encore::kernels {
namespace {

/// sines and cosines (longest, D / 2), computed in double; `direction` 1 or -1.
template <class S>
void rotary_angles(const Device& device, std::int64_t longest, std::int64_t half, double log_base,
                   double direction, S* sines, S* cosines) {
  for_rows(
      device, "encore::rotary_angles", longest, KOKKOS_LAMBDA(const Row& row) {
        row.each(half, [&](std::int64_t d) {
          const double rate = math::exp(static_cast<double>(d) * (-log_base / static_cast<double>(half)));
          const math::SineCosine angle = math::sine_cosine(static_cast<double>(row.index) * rate);
          sines[row.index * half + d] = static_cast<S>(direction * angle.sine);
          cosines[row.index * half + d] = static_cast<S>(angle.cosine);
        });
      });
}

template <class T>
void turn_rows(const Device& device, const Batch& batch, std::int64_t heads, double base, bool inverse,
               Tensor qkv) {
  using S = Sum<T>;
  const std::int64_t width = qkv.extent(1) / 3;
  const std::int64_t size = width / heads;
  const std::int64_t half = size / 2;
  const std::int64_t table = batch.size.longest * half;
  S* sines = static_cast<S*>(device.workspace(static_cast<std::size_t>(2 * table) * sizeof(S)));
  S* cosines = sines + table;
  rotary_angles(device, batch.size.longest, half, math::log(base), inverse ? -1.0 : 1.0, sines, cosines);
  const std::int32_t* positions = elements<std::int32_t>(batch.positions);
  T* values = elements<T>(qkv);  // (N, 3 C): queries by head, keys by head, values
  for_rows(
      device, "encore::rotary", qkv.extent(0), KOKKOS_LAMBDA(const Row& row) {
        const S* sine = sines + positions[row.index] * half;
        const S* cosine = cosines + positions[row.index] * half;
        for (std::int64_t head = 0; head < 2 * heads;
             ++head) {  // those of the keys follow those of the queries
          T* first = values + row.index * 3 * width + head * size;
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

void rotary(const Device& device, const Batch& batch, std::int64_t heads, double base, bool inverse,
            Tensor qkv) {
  check_rank("qkv", qkv, 2);
  check("qkv", qkv, qkv.dtype, {batch.size.tokens, qkv.extent(1)});
  ENCORE_REQUIRE(heads >= 1 && qkv.extent(1) % (6 * heads) == 0,
                 std::to_string(heads) + " heads of pairs do not divide qkv, which is " + describe(qkv));
  ENCORE_REQUIRE(base >= 1.0, "the base of the angles is at least 1");
  if (qkv.extent(0) == 0) return;
  dispatch(qkv.dtype,
           [&](auto type) { turn_rows<decltype(type)>(device, batch, heads, base, inverse, qkv); });
}

}  // namespace encore::kernels
