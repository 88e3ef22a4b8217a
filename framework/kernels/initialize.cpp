// SPDX-License-Identifier: BSD-3-Clause
// The kernel initialize (encore/kernels.hpp): fills a new parameter as its ParameterSpec declares.
// Model::initialize calls it for each parameter. A value is drawn at (0, row, column) of the parameter's key,
// so it does not depend on threads, device or other parameters; a change of the draws changes every seeded
// run.
#include <algorithm>
#include <cmath>

#include <encore/math.hpp>
#include <encore/random.hpp>

#include "kernels/check.hpp"
#include "kernels/random_block.hpp"

namespace encore::kernels {
namespace {

/// Makes values uniform in (-bound, bound).
struct UniformValues {
  double bound;
  /// Maps two uniform numbers in (0, 1) to two values of the distribution.
  KOKKOS_FORCEINLINE_FUNCTION void operator()(double& first, double& second) const {
    first = bound * (2.0 * first - 1.0);
    second = bound * (2.0 * second - 1.0);
  }
};

/// Makes normal values with mean 0: two numbers in (0, 1) make two values (Box and Muller 1958).
struct NormalValues {
  double deviation;
  KOKKOS_FORCEINLINE_FUNCTION void operator()(double& first, double& second) const {
    const double radius = deviation * Kokkos::sqrt(-2.0 * math::log(first));
    const math::SineCosine angle = math::sine_cosine(6.283185307179586 * second);
    first = radius * angle.cosine;
    second = radius * angle.sine;
  }
};

/// Makes value c of a row from word c / stride of counter c % stride, two words at a time.
template <class T, class Draw>
struct DrawRow {
  T* out;
  std::int64_t width, stride;
  Random random;
  Draw draw;

  KOKKOS_FUNCTION void operator()(const Row& row) const {
#if ENCORE_HOST_BACKEND
    for (std::int64_t first = 0; first < stride; first += most) draw_some(row.index, first);
#else
    row.each(stride, [&](std::int64_t i) {
      const RandomWords words =
          random.words(0, static_cast<std::uint32_t>(row.index), static_cast<std::uint32_t>(i));
      double drawn[4];
      unroll<4>([&](int run) { drawn[run] = uniform(words.word[run]); });
      draw(drawn[0], drawn[1]);
      draw(drawn[2], drawn[3]);
      unroll<4>([&](int run) {
        if (run * stride + i < width) out[row.index * width + run * stride + i] = static_cast<T>(drawn[run]);
      });
    });
#endif
  }

#if ENCORE_HOST_BACKEND
  static constexpr int most = 64;  // counters at once

  /// Each loop does one kind of work and is short enough for the compiler to vectorise. Words after the row's
  /// last one are drawn but not used.
  __attribute__((flatten)) void draw_some(std::int64_t row, std::int64_t first) const {
    RandomBlock<most> block;
    block.draw(random, 0, static_cast<std::uint32_t>(row), static_cast<std::uint32_t>(first));
    double drawn[4][most];
    for (int run = 0; run < 4; ++run) {
      ENCORE_SIMD
      for (int i = 0; i < most; ++i) drawn[run][i] = uniform(block.words[run][i]);
    }
    for (int run = 0; run < 4; run += 2) {
      ENCORE_SIMD
      for (int i = 0; i < most; ++i) draw(drawn[run][i], drawn[run + 1][i]);
    }
    for (int run = 0; run < 4; ++run) {
      const std::int64_t begin = run * stride + first;
      const std::int64_t count = std::min({std::int64_t{most}, stride - first, width - begin});
      T* const to = out + row * width + begin;
      ENCORE_SIMD
      for (std::int64_t i = 0; i < count; ++i) to[i] = static_cast<T>(drawn[run][i]);
    }
  }
#endif
};

template <class T, class Draw>
void draw_rows(const Device& device, RandomKey key, const Draw& draw, Tensor values) {
  const std::int64_t width = values.extent(values.rank - 1);
  for_rows(device, "encore::initialize", values.size() / width,
           DrawRow<T, Draw>{elements<T>(values), width, (width + 3) / 4, Random(key), draw});
}

}  // namespace

void initialize(const Device& device, const ParameterSpec& spec, RandomKey key, Tensor values) {
  ENCORE_REQUIRE(values.rank >= 1 && values.rank == static_cast<int>(spec.shape.size()),
                 "parameter " + spec.name + " is " + describe(values));
  for (int axis = 0; axis < values.rank; ++axis)
    ENCORE_REQUIRE(values.extent(axis) == spec.shape[static_cast<std::size_t>(axis)],
                   "parameter " + spec.name + " is " + describe(values));
  if (values.size() == 0) return;
  switch (spec.initializer) {
    case Initializer::zeros:
      return fill(device, 0.0, values);
    case Initializer::ones:
      return fill(device, 1.0, values);
    case Initializer::constant:
      return fill(device, spec.value, values);
    case Initializer::normal:
      return dispatch_parameters(values.dtype, [&](auto type) {
        draw_rows<decltype(type)>(device, key, NormalValues{spec.deviation}, values);
      });
    case Initializer::xavier_uniform: {
      ENCORE_REQUIRE(values.rank == 2, "Xavier initialisation is for matrices; parameter " + spec.name +
                                           " is " + describe(values));
      const double bound = std::sqrt(6.0 / static_cast<double>(values.extent(0) + values.extent(1)));
      return dispatch_parameters(values.dtype, [&](auto type) {
        draw_rows<decltype(type)>(device, key, UniformValues{bound}, values);
      });
    }
  }
}

}  // namespace encore::kernels
