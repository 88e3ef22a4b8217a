// Layer normalisation (Ba et al. 2016): y = gain * (x - mean) * rstd + bias over each row, rstd = 1 /
// sqrt(variance + epsilon). Mean and rstd are kept for backward. And root mean square normalisation (Zhang
// and Sennrich 2019): y = gain * x * rrms, rrms = 1 / sqrt(mean(x^2) + epsilon), kept for backward.
#include <encore/rows.hpp>

#include "kernels/check.hpp"

namespace encore::kernels {
namespace {

template <class T>
void layer_norm_rows(const Device& device, Tensor x, Tensor gain, Tensor bias, double epsilon, Tensor y,
                     Tensor mean, Tensor rstd) {
  using S = Sum<T>;
  const std::int64_t width = x.extent(1);
  const T* in = elements<T>(x);        // (N, C)
  const S* gains = elements<S>(gain);  // (C)
  const S* biases = elements<S>(bias);
  T* out = elements<T>(y);
  S* means = elements<S>(mean);  // (N)
  S* rstds = elements<S>(rstd);
  const S floor = static_cast<S>(epsilon);
  for_rows(
      device, "encore::layer_norm", x.extent(0), KOKKOS_LAMBDA(const Row& row) {
        const T* from = in + row.index * width;
        T* to = out + row.index * width;
        const S center = row.sum<S>(width, [&](std::int64_t c) { return static_cast<S>(from[c]); }) /
                         static_cast<S>(width);
        // A second pass instead of E[x^2] - mean^2, which cancels when the mean is large.
        const S squares = row.sum<S>(width, [&](std::int64_t c) {
          const S difference = static_cast<S>(from[c]) - center;
          return difference * difference;
        });
        const S scale = S(1) / Kokkos::sqrt(squares / static_cast<S>(width) + floor);
        row.each(width, [&](std::int64_t c) {
          to[c] = static_cast<T>((static_cast<S>(from[c]) - center) * scale * gains[c] + biases[c]);
        });
        row.once([&] {
          means[row.index] = center;
          rstds[row.index] = scale;
        });
      });
}

constexpr std::int64_t block_rows = 16;      // rows whose gradients of parameters one task adds up
constexpr std::int64_t block_columns = 128;  // columns of which one task then adds up the blocks

/// first (C) += the sum over the blocks of partial[block][0], and second (C), where there is one, of
/// partial[block][1]; partial: (blocks, 1 or 2, C). Each column adds the blocks in their order.
template <class S>
void add_blocks(const Device& device, const char* label, const S* partial, std::int64_t blocks,
                std::int64_t width, S* first, S* second) {
  const std::int64_t stride = second == nullptr ? width : 2 * width;
  for_rows(
      device, label, (width + block_columns - 1) / block_columns, KOKKOS_LAMBDA(const Row& row) {
        const std::int64_t begin = row.index * block_columns;
        const std::int64_t count = width - begin < block_columns ? width - begin : block_columns;
        for (std::int64_t block = 0; block < blocks; ++block) {
          const S* sums = partial + block * stride + begin;
          row.each(count, [&](std::int64_t c) { first[begin + c] += sums[c]; });
          if (second != nullptr)
            row.each(count, [&](std::int64_t c) { second[begin + c] += sums[width + c]; });
        }
      });
}

/// With xhat = (x - mean) rstd and g = gain dy:  dx = rstd (g - mean(g) - xhat mean(g xhat)), the means over
/// the row; dgain += sum over rows of dy xhat, dbias += sum over rows of dy. A task is a block of rows, which
/// also sums its part of dgain and dbias; then each column adds up the blocks in order.
template <class T>
void layer_norm_backward_rows(const Device& device, Tensor x, Tensor gain, Tensor mean, Tensor rstd,
                              Tensor dy, Tensor dx, Tensor dgain, Tensor dbias) {
  using S = Sum<T>;
  const std::int64_t rows = x.extent(0);
  const std::int64_t width = x.extent(1);
  const std::int64_t blocks = (rows + block_rows - 1) / block_rows;
  const T* in = elements<T>(x);
  const T* gradient = elements<T>(dy);
  T* out = elements<T>(dx);
  const S* gains = elements<S>(gain);
  const S* means = elements<S>(mean);
  const S* rstds = elements<S>(rstd);
  S* partial = static_cast<S*>(device.workspace(static_cast<std::size_t>(2 * blocks * width) * sizeof(S)));
  for_rows(
      device, "encore::layer_norm_backward", blocks, KOKKOS_LAMBDA(const Row& block) {
        const S* factors = gains;  // a local pointer: through the closure's, sums would gather
        S* gain_sums = partial + 2 * block.index * width;
        S* bias_sums = gain_sums + width;
        block.each(width, [&](std::int64_t c) {
          gain_sums[c] = S(0);
          bias_sums[c] = S(0);
        });
        const std::int64_t end =
            (block.index + 1) * block_rows < rows ? (block.index + 1) * block_rows : rows;
        for (std::int64_t r = block.index * block_rows; r < end; ++r) {
          const T* x_row = in + r * width;
          const T* dy_row = gradient + r * width;
          T* dx_row = out + r * width;
          const S center = means[r];
          const S scale = rstds[r];
          const auto xhat = [&](std::int64_t c) { return (static_cast<S>(x_row[c]) - center) * scale; };
          const S mean_g = block.sum<S>(width, [&](std::int64_t c) {
            return factors[c] * static_cast<S>(dy_row[c]);
          }) / static_cast<S>(width);
          const S mean_g_xhat = block.sum<S>(width, [&](std::int64_t c) {
            return factors[c] * static_cast<S>(dy_row[c]) * xhat(c);
          }) / static_cast<S>(width);
          block.each(width, [&](std::int64_t c) {
            const S dy_c = static_cast<S>(dy_row[c]);
            const S xhat_c = xhat(c);
            gain_sums[c] += dy_c * xhat_c;
            bias_sums[c] += dy_c;
            dx_row[c] = static_cast<T>(scale * (factors[c] * dy_c - mean_g - xhat_c * mean_g_xhat));
          });
        }
      });
  add_blocks(device, "encore::layer_norm_backward_parameters", partial, blocks, width, elements<S>(dgain),
             elements<S>(dbias));
}

template <class T>
void rms_norm_rows(const Device& device, Tensor x, Tensor gain, double epsilon, Tensor y, Tensor rrms) {
  using S = Sum<T>;
  const std::int64_t width = x.extent(1);
  const T* in = elements<T>(x);        // (N, C)
  const S* gains = elements<S>(gain);  // (C)
  T* out = elements<T>(y);
  S* scales = elements<S>(rrms);  // (N)
  const S floor = static_cast<S>(epsilon);
  for_rows(
      device, "encore::rms_norm", x.extent(0), KOKKOS_LAMBDA(const Row& row) {
        const T* from = in + row.index * width;
        T* to = out + row.index * width;
        const S squares = row.sum<S>(width, [&](std::int64_t c) {
          const S value = static_cast<S>(from[c]);
          return value * value;
        });
        const S scale = S(1) / Kokkos::sqrt(squares / static_cast<S>(width) + floor);
        row.each(width,
                 [&](std::int64_t c) { to[c] = static_cast<T>(static_cast<S>(from[c]) * scale * gains[c]); });
        row.once([&] { scales[row.index] = scale; });
      });
}

/// With xhat = x rrms and g = gain dy:  dx = rrms (g - xhat mean(g xhat)), the mean over the row; dgain +=
/// sum over rows of dy xhat, in blocks of rows as above.
template <class T>
void rms_norm_backward_rows(const Device& device, Tensor x, Tensor gain, Tensor rrms, Tensor dy, Tensor dx,
                            Tensor dgain) {
  using S = Sum<T>;
  const std::int64_t rows = x.extent(0);
  const std::int64_t width = x.extent(1);
  const std::int64_t blocks = (rows + block_rows - 1) / block_rows;
  const T* in = elements<T>(x);
  const T* gradient = elements<T>(dy);
  T* out = elements<T>(dx);
  const S* gains = elements<S>(gain);
  const S* scales = elements<S>(rrms);
  S* partial = static_cast<S*>(device.workspace(static_cast<std::size_t>(blocks * width) * sizeof(S)));
  for_rows(
      device, "encore::rms_norm_backward", blocks, KOKKOS_LAMBDA(const Row& block) {
        const S* factors = gains;  // as above
        S* gain_sums = partial + block.index * width;
        block.each(width, [&](std::int64_t c) { gain_sums[c] = S(0); });
        const std::int64_t end =
            (block.index + 1) * block_rows < rows ? (block.index + 1) * block_rows : rows;
        for (std::int64_t r = block.index * block_rows; r < end; ++r) {
          const T* x_row = in + r * width;
          const T* dy_row = gradient + r * width;
          T* dx_row = out + r * width;
          const S scale = scales[r];
          const S mean_g_xhat = block.sum<S>(width, [&](std::int64_t c) {
            return factors[c] * static_cast<S>(dy_row[c]) * static_cast<S>(x_row[c]) * scale;
          }) / static_cast<S>(width);
          block.each(width, [&](std::int64_t c) {
            const S dy_c = static_cast<S>(dy_row[c]);
            const S xhat = static_cast<S>(x_row[c]) * scale;
            gain_sums[c] += dy_c * xhat;
            dx_row[c] = static_cast<T>(scale * (factors[c] * dy_c - xhat * mean_g_xhat));
          });
        }
      });
  add_blocks<S>(device, "encore::rms_norm_backward_parameters", partial, blocks, width, elements<S>(dgain),
                nullptr);
}

}  // namespace

void layer_norm(const Device& device, Tensor x, Tensor gain, Tensor bias, double epsilon, Tensor y,
                Tensor mean, Tensor rstd) {
  check_rank("x", x, 2);
  const DType sums = sum_type(x.dtype);
  check("gain", gain, sums, {x.extent(1)});
  check("bias", bias, sums, {x.extent(1)});
  check("y", y, x.dtype, {x.extent(0), x.extent(1)});
  check("mean", mean, sums, {x.extent(0)});
  check("rstd", rstd, sums, {x.extent(0)});
  dispatch(x.dtype, [&](auto type) {
    layer_norm_rows<decltype(type)>(device, x, gain, bias, epsilon, y, mean, rstd);
  });
}

void layer_norm_backward(const Device& device, Tensor x, Tensor gain, Tensor mean, Tensor rstd, Tensor dy,
                         Tensor dx, Tensor dgain, Tensor dbias) {
  check_rank("x", x, 2);
  const DType sums = sum_type(x.dtype);
  check("gain", gain, sums, {x.extent(1)});
  check("mean", mean, sums, {x.extent(0)});
  check("rstd", rstd, sums, {x.extent(0)});
  check("dy", dy, x.dtype, {x.extent(0), x.extent(1)});
  check("dx", dx, x.dtype, {x.extent(0), x.extent(1)});
  check("dgain", dgain, sums, {x.extent(1)});
  check("dbias", dbias, sums, {x.extent(1)});
  if (x.extent(0) == 0) return;
  dispatch(x.dtype, [&](auto type) {
    layer_norm_backward_rows<decltype(type)>(device, x, gain, mean, rstd, dy, dx, dgain, dbias);
  });
}

void rms_norm(const Device& device, Tensor x, Tensor gain, double epsilon, Tensor y, Tensor rrms) {
  check_rank("x", x, 2);
  const DType sums = sum_type(x.dtype);
  check("gain", gain, sums, {x.extent(1)});
  check("y", y, x.dtype, {x.extent(0), x.extent(1)});
  check("rrms", rrms, sums, {x.extent(0)});
  dispatch(x.dtype, [&](auto type) { rms_norm_rows<decltype(type)>(device, x, gain, epsilon, y, rrms); });
}

void rms_norm_backward(const Device& device, Tensor x, Tensor gain, Tensor rrms, Tensor dy, Tensor dx,
                       Tensor dgain) {
  check_rank("x", x, 2);
  const DType sums = sum_type(x.dtype);
  check("gain", gain, sums, {x.extent(1)});
  check("rrms", rrms, sums, {x.extent(0)});
  check("dy", dy, x.dtype, {x.extent(0), x.extent(1)});
  check("dx", dx, x.dtype, {x.extent(0), x.extent(1)});
  check("dgain", dgain, sums, {x.extent(1)});
  if (x.extent(0) == 0) return;
  dispatch(x.dtype,
           [&](auto type) { rms_norm_backward_rows<decltype(type)>(device, x, gain, rrms, dy, dx, dgain); });
}

}  // namespace encore::kernels
