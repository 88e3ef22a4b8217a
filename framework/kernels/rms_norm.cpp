// Root mean square normalisation (Zhang and Sennrich 2019): y = gain * x * rrms over each row, rrms = 1 /
// sqrt(mean(x^2) + epsilon), kept for backward.
#include "kernels/norm_rows.hpp"

namespace encore::kernels {
namespace {

template <class T>
void rms_norm_rows(const Device& device, const ResidualSum& x, Tensor gain, double epsilon, Tensor y,
                   Tensor rrms) {
  using S = Sum<T>;
  const std::int64_t width = y.extent(1);
  const SummedRows<T> in(x);           // (N, C)
  const S* gains = elements<S>(gain);  // (C)
  T* out = elements<T>(y);
  S* scales = elements<S>(rrms);  // (N)
  const S floor = static_cast<S>(epsilon);
  for_rows(
      device, x.branch ? "encore::rms_norm_of_sum" : "encore::rms_norm", y.extent(0),
      KOKKOS_LAMBDA(const Row& row) {
        const T* from = in.add_up(row, row.index);
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

// With xhat = x rrms and g = gain dy:  dx = rrms (g - xhat mean(g xhat)), the mean over the row; dgain += sum
// over rows of dy xhat, in blocks of rows on the host and in a second pass on a GPU, as in layer_norm.cpp.

#if ENCORE_HOST_BACKEND

template <class T>
void rms_norm_backward_rows(const Device& device, Tensor x, Tensor gain, Tensor rrms, Tensor dy,
                            const ResidualSum& dx, Tensor dgain) {
  using S = Sum<T>;
  const std::int64_t rows = x.extent(0);
  const std::int64_t width = x.extent(1);
  const std::int64_t blocks = (rows + norm_block_rows - 1) / norm_block_rows;
  const T* in = elements<T>(x);
  const T* gradient = elements<T>(dy);
  T* out = elements<T>(dx.trunk);
  const BranchGradient<T> branch(dx);
  const S* gains = elements<S>(gain);
  const S* scales = elements<S>(rrms);
  S* partial = static_cast<S*>(device.workspace(static_cast<std::size_t>(blocks * width) * sizeof(S)));
  for_rows(
      device,
      BranchGradient<T>::has_own(dx) ? "encore::rms_norm_of_sum_backward" : "encore::rms_norm_backward",
      blocks, KOKKOS_LAMBDA(const Row& block) {
        const S* factors = gains;  // a local pointer: through the closure's, sums would gather
        S* gain_sums = partial + block.index * width;
        block.each(width, [&](std::int64_t c) { gain_sums[c] = S(0); });
        const std::int64_t end =
            (block.index + 1) * norm_block_rows < rows ? (block.index + 1) * norm_block_rows : rows;
        for (std::int64_t r = block.index * norm_block_rows; r < end; ++r) {
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
          branch.set(block, r, dx_row);
        }
      });
  add_blocks<S>(device, "encore::rms_norm_backward_parameters", partial, blocks, width, elements<S>(dgain),
                nullptr);
}

#else

template <class T>
void rms_norm_backward_rows(const Device& device, Tensor x, Tensor gain, Tensor rrms, Tensor dy,
                            const ResidualSum& dx, Tensor dgain) {
  using S = Sum<T>;
  const std::int64_t rows = x.extent(0), width = x.extent(1);
  const T* in = elements<T>(x);
  const T* gradient = elements<T>(dy);
  T* out = elements<T>(dx.trunk);
  const BranchGradient<T> branch(dx);
  const S* gains = elements<S>(gain);
  const S* scales = elements<S>(rrms);
  add_norm_terms<S>(
      device, "encore::rms_norm_backward_parameters", rows, width,
      KOKKOS_LAMBDA(const std::int64_t r, const std::int64_t c) {
        return NormTerms<S>{
            static_cast<S>(gradient[r * width + c]) * (static_cast<S>(in[r * width + c]) * scales[r]), S(0)};
      },
      elements<S>(dgain), nullptr);
  for_rows(
      device,
      BranchGradient<T>::has_own(dx) ? "encore::rms_norm_of_sum_backward" : "encore::rms_norm_backward", rows,
      KOKKOS_LAMBDA(const Row& row) {
        const std::int64_t r = row.index;
        const T* x_row = in + r * width;
        const T* dy_row = gradient + r * width;
        T* dx_row = out + r * width;
        const S scale = scales[r];
        const S mean_g_xhat = row.sum<S>(width, [&](std::int64_t c) {
          return gains[c] * static_cast<S>(dy_row[c]) * static_cast<S>(x_row[c]) * scale;
        }) / static_cast<S>(width);
        map_row(row, width, dx_row, [&](std::int64_t c) {
          const S xhat = static_cast<S>(x_row[c]) * scale;
          return static_cast<T>(scale * (gains[c] * static_cast<S>(dy_row[c]) - xhat * mean_g_xhat));
        });
        branch.set(row, r, dx_row);
      });
}

#endif

}  // namespace

void rms_norm(const Device& device, const ResidualSum& x, Tensor gain, double epsilon, Tensor y,
              Tensor rrms) {
  check_rank("x", x.trunk, 2);
  check_sum(x, x.trunk);
  const DType sums = sum_type(x.trunk.dtype);
  check("gain", gain, sums, {x.trunk.extent(1)});
  check("y", y, x.trunk.dtype, {x.trunk.extent(0), x.trunk.extent(1)});
  check("rrms", rrms, sums, {x.trunk.extent(0)});
  dispatch(y.dtype, [&](auto type) { rms_norm_rows<decltype(type)>(device, x, gain, epsilon, y, rrms); });
}

void rms_norm_backward(const Device& device, Tensor x, Tensor gain, Tensor rrms, Tensor dy,
                       const ResidualSum& dx, Tensor dgain) {
  check_rank("x", x, 2);
  const DType sums = sum_type(x.dtype);
  check("gain", gain, sums, {x.extent(1)});
  check("rrms", rrms, sums, {x.extent(0)});
  check("dy", dy, x.dtype, {x.extent(0), x.extent(1)});
  check_sum(dx, x);
  check("dgain", dgain, sums, {x.extent(1)});
  if (x.extent(0) == 0) return;
  dispatch(x.dtype,
           [&](auto type) { rms_norm_backward_rows<decltype(type)>(device, x, gain, rrms, dy, dx, dgain); });
}

}  // namespace encore::kernels
