// SPDX-License-Identifier: BSD-3-Clause
// The kernel largest_channels: the k largest channels of each row of x (N, C) with their values (N, k), and
// log_sums (N), the log of the softmax's divisor. infer/best_tokens.cpp (generation) and heads that name
// candidates call it. A row is read in runs of 64 channels; only runs whose maximum belongs to the list are
// searched. Every lane keeps the same list, so that all lanes take the same branches. Callers rely on the
// order: falling values, and equal values by channel. The size of a run may change; it does not affect
// results.
#include <encore/math.hpp>
#include <encore/rows.hpp>

#include "kernels/check.hpp"

namespace encore::kernels {
namespace {

constexpr std::int64_t run = 64;   // channels whose maximum is taken at once
constexpr std::int64_t most = 64;  // channels that a row can give

/// The list of the largest values so far, in descending order; ties stay in the order of the channels.
template <class S>
struct Largest {
  S values[most];
  std::int32_t channels[most];
  std::int64_t count = 0, wanted;

  KOKKOS_INLINE_FUNCTION explicit Largest(std::int64_t of) : wanted(of) {}
  KOKKOS_INLINE_FUNCTION bool takes(S value) const { return count < wanted || value > values[count - 1]; }
  KOKKOS_INLINE_FUNCTION void add(S value, std::int64_t channel) {
    if (!takes(value)) return;
    if (count < wanted) ++count;
    std::int64_t place = count - 1;
    for (; place > 0 && value > values[place - 1]; --place) {
      values[place] = values[place - 1];
      channels[place] = channels[place - 1];
    }
    values[place] = value;
    channels[place] = static_cast<std::int32_t>(channel);
  }
};

template <class T>
void find_largest(const Device& device, Tensor x, Tensor channels, Tensor values, Tensor log_sums) {
  using S = Sum<T>;
  const std::int64_t width = x.extent(1), count = channels.extent(1);
  const T* in = elements<T>(x);
  std::int32_t* out_channels = elements<std::int32_t>(channels);
  S* out_values = elements<S>(values);
  S* out_sums = elements<S>(log_sums);
  for_rows(
      device, "encore::largest_channels", x.extent(0), KOKKOS_LAMBDA(const Row& row) {
        const T* z = in + row.index * width;
        Largest<S> largest(count);
        for (std::int64_t first = 0; first < width; first += run) {
          const std::int64_t size = width - first < run ? width - first : run;
          const S top = row.max<S>(size, [&](std::int64_t i) { return static_cast<S>(z[first + i]); });
          if (!largest.takes(top)) continue;
          for (std::int64_t i = 0; i < size; ++i) largest.add(static_cast<S>(z[first + i]), first + i);
        }
        const S shift = largest.values[0];
        const S sum =
            row.sum<S>(width, [&](std::int64_t i) { return math::exp(static_cast<S>(z[i]) - shift); });
        row.once([&] {
          for (std::int64_t k = 0; k < count; ++k) {
            out_channels[row.index * count + k] = largest.channels[k];
            out_values[row.index * count + k] = largest.values[k];
          }
          out_sums[row.index] = shift + math::log(sum);
        });
      });
}

}  // namespace

void largest_channels(const Device& device, Tensor x, Tensor channels, Tensor values, Tensor log_sums) {
  const std::int64_t rows = x.extent(0), count = channels.extent(1);
  ENCORE_REQUIRE(count >= 1 && count <= most && count <= x.extent(1),
                 "from 1 to " + std::to_string(most) + " channels, and no more than the row has");
  check("channels", channels, DType::int32, {rows, count});
  check("values", values, sum_type(x.dtype), {rows, count});
  check("log_sums", log_sums, sum_type(x.dtype), {rows});
  dispatch(x.dtype, [&](auto type) { find_largest<decltype(type)>(device, x, channels, values, log_sums); });
}

}  // namespace encore::kernels
