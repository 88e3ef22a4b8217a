// Dropout and dropout + residual sum. The mask is drawn from (example, position, channel), never stored.
#include <encore/random.hpp>

#include "kernels/check.hpp"
#include "kernels/random_block.hpp"

namespace encore::kernels {
namespace {

/// y[i] = factor(words[i]) * x[i] (+ residual[i]).
template <class T, bool AddResidual>
struct DropoutRun {
  using S = Sum<T>;
  std::uint32_t threshold;
  S scale;

  KOKKOS_FORCEINLINE_FUNCTION void at(std::uint32_t word, const T* x, const T* residual, T* y,
                                      std::int64_t i) const {
    S value = (word >= threshold ? scale : S(0)) * static_cast<S>(x[i]);
    // A plain `if`: nvcc lets no lambda capture a variable first inside `if constexpr`.
    if (AddResidual) value += static_cast<S>(residual[i]);
    y[i] = static_cast<T>(value);
  }
};

/// y = factor(word) * x (+ residual): four runs of channels share one run of counters, see random.hpp.
template <class T, bool AddResidual>
void dropout_rows(const Device& device, const char* label, const Batch& batch, RandomKey key,
                  double probability, Tensor x, Tensor residual, Tensor y) {
  using S = Sum<T>;
  const std::int64_t width = x.extent(1);
  const std::int64_t stride = (width + 3) / 4;
  const T* in = elements<T>(x);
  const T* added = AddResidual ? elements<T>(residual) : nullptr;
  T* out = elements<T>(y);
  const std::int64_t* examples = elements<std::int64_t>(batch.examples);
  const std::int32_t* positions = elements<std::int32_t>(batch.positions);
  const Random random(key);
  const Dropout dropped(probability);
  const DropoutRun<T, AddResidual> shared_run{dropped.threshold(), static_cast<S>(dropped.scale())};
  for_rows(
      device, label, x.extent(0), KOKKOS_LAMBDA(const Row& row) {
        const std::int64_t example = examples[row.index];
        const auto position = static_cast<std::uint32_t>(positions[row.index]);
        const std::int64_t start = row.index * width;
        const Random numbers = random;  // local copies stay in registers
        const DropoutRun<T, AddResidual> run = shared_run;
#if ENCORE_HOST_BACKEND
        RandomBlock<32> drawn;
        for (std::int64_t first = 0; first < stride; first += drawn.size) {
          drawn.draw(numbers, example, position, static_cast<std::uint32_t>(first));
          for (int k = 0; k < 4; ++k) {
            const std::int64_t channel = k * stride + first;
            const std::int64_t end = channel - first + stride < width ? channel - first + stride : width;
            const std::int64_t left = end - channel;
            const std::uint32_t* words = drawn.words[k];
            const T* x_run = in + start + channel;
            const T* added_run = AddResidual ? added + start + channel : nullptr;
            T* y_run = out + start + channel;
            row.each(left < drawn.size ? left : drawn.size,
                     [&](std::int64_t i) { run.at(words[i], x_run, added_run, y_run, i); });
          }
        }
#else
        row.each(stride, [&](std::int64_t i) {
          const RandomWords words = numbers.words(example, position, static_cast<std::uint32_t>(i));
          unroll<4>([&](int k) {
            const std::int64_t channel = start + k * stride + i;
            if (channel < start + width) run.at(words.word[k], in, added, out, channel);
          });
        });
#endif
      });
}

template <class T>
void plain_sum(const Device& device, Tensor x, Tensor residual, Tensor y) {
  using S = Sum<T>;
  const std::int64_t width = x.extent(1);
  const T* in = elements<T>(x);
  const T* added = elements<T>(residual);
  T* out = elements<T>(y);
  for_rows(
      device, "encore::residual_add", x.extent(0), KOKKOS_LAMBDA(const Row& row) {
        const std::int64_t start = row.index * width;
        row.each(width, [&](std::int64_t c) {
          out[start + c] = static_cast<T>(static_cast<S>(in[start + c]) + static_cast<S>(added[start + c]));
        });
      });
}

}  // namespace

void dropout(const Device& device, const Batch& batch, RandomKey key, double probability, Tensor x,
             Tensor y) {
  check("x", x, x.dtype, {batch.size.tokens, x.extent(1)});
  check("y", y, x.dtype, {x.extent(0), x.extent(1)});
  if (probability == 0.0) {
    if (x.data != y.data) copy(device, x, y);
    return;
  }
  dispatch(x.dtype, [&](auto type) {
    dropout_rows<decltype(type), false>(device, "encore::dropout", batch, key, probability, x, {}, y);
  });
}

void dropout_add(const Device& device, const Batch& batch, RandomKey key, double probability, Tensor x,
                 Tensor residual, Tensor y) {
  check("x", x, x.dtype, {batch.size.tokens, x.extent(1)});
  check("residual", residual, x.dtype, {x.extent(0), x.extent(1)});
  check("y", y, x.dtype, {x.extent(0), x.extent(1)});
  dispatch(x.dtype, [&](auto type) {
    using T = decltype(type);
    if (probability == 0.0)
      plain_sum<T>(device, x, residual, y);
    else
      dropout_rows<T, true>(device, "encore::dropout_add", batch, key, probability, x, residual, y);
  });
}

}  // namespace encore::kernels
