// How parameters start out. A value is drawn at (0, row, column) of its parameter's key.
#include <cmath>

#include <encore/math.hpp>
#include <encore/random.hpp>

#include "kernels/check.hpp"

namespace encore::kernels {
namespace {

/// Uniform in (-bound, bound).
struct UniformValues {
  double bound;
  KOKKOS_INLINE_FUNCTION void operator()(const RandomWords& words, double (&values)[4]) const {
    for (int i = 0; i < 4; ++i) values[i] = bound * (2.0 * uniform(words.word[i]) - 1.0);
  }
};

/// Normal with mean 0: two words make two values (Box and Muller 1958).
struct NormalValues {
  double deviation;
  KOKKOS_INLINE_FUNCTION void operator()(const RandomWords& words, double (&values)[4]) const {
    for (int i = 0; i < 4; i += 2) {
      const double radius = deviation * Kokkos::sqrt(-2.0 * math::log(uniform(words.word[i])));
      const math::SineCosine angle = math::sine_cosine(6.283185307179586 * uniform(words.word[i + 1]));
      values[i] = radius * angle.cosine;
      values[i + 1] = radius * angle.sine;
    }
  }
};

template <class T, class Draw>
void draw_rows(const Device& device, RandomKey key, const Draw& draw, Tensor values) {
  const std::int64_t width = values.extent(values.rank - 1);
  const std::int64_t stride = (width + 3) / 4;
  T* out = elements<T>(values);
  const Random random(key);
  for_rows(
      device, "encore::initialize", values.size() / width, KOKKOS_LAMBDA(const Row& row) {
        row.each(stride, [&](std::int64_t i) {
          double drawn[4];
          draw(random.words(0, static_cast<std::uint32_t>(row.index), static_cast<std::uint32_t>(i)), drawn);
          unroll<4>([&](int run) {
            if (run * stride + i < width)
              out[row.index * width + run * stride + i] = static_cast<T>(drawn[run]);
          });
        });
      });
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
