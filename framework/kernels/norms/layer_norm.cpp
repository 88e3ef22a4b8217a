// SPDX-License-Identifier: BSD-3-Clause
// The kernels layer_norm and layer_norm_backward (Ba et al. 2016): y (N, C) = gain * (x - mean) * rstd + bias
// over each row, rstd = 1 / sqrt(variance + epsilon). Kept for backward: mean and rstd, (N) each. The layers
// of norms call them. The order of sums decides the bits of runs and must stay. Read norm_rows.hpp next,
// which both norms share.
#include "kernels/norms/norm_rows.hpp"

namespace encore::kernels {
namespace {

#if !ENCORE_HOST_BACKEND

/// Normalizes a row in the registers of a GPU's warp.
template <class T, int Width>
void layer_norm_in_registers(const Device& device, const ResidualSum& x, Tensor gain, Tensor bias,
                             double epsilon, Tensor y, Tensor mean, Tensor rstd) {
  using S = Sum<T>;
  const SummedRows<T> in(x);
  const S* gains = elements<S>(gain);
  const S* biases = elements<S>(bias);
  T* out = elements<T>(y);
  S* means = elements<S>(mean);
  S* rstds = elements<S>(rstd);
  const S floor = static_cast<S>(epsilon);
  for_rows(
      device, x.branch ? "encore::layer_norm_of_sum" : "encore::layer_norm", y.extent(0),
      KOKKOS_LAMBDA(const Row& row) {
        const LaneRow<Width> lanes(row);
        S values[LaneRow<Width>::size];
        in.add_up(lanes, row.index, values);
        const S center =
            lanes.template sum<S>([&](const int n) { return values[n]; }) / static_cast<S>(Width);
        const S squares = lanes.template sum<S>([&](const int n) {
          const S difference = values[n] - center;
          return difference * difference;
        });
        const S scale = S(1) / Kokkos::sqrt(squares / static_cast<S>(Width) + floor);
        S factors[LaneRow<Width>::size], offsets[LaneRow<Width>::size];
        lanes.load(gains, factors);
        lanes.load(biases, offsets);
        lanes.each([&](const int n) { values[n] = (values[n] - center) * scale * factors[n] + offsets[n]; });
        lanes.store(values, out + row.index * Width);
        row.once([&] {
          means[row.index] = center;
          rstds[row.index] = scale;
        });
      });
}

#endif

template <class T>
void layer_norm_rows(const Device& device, const ResidualSum& x, Tensor gain, Tensor bias, double epsilon,
                     Tensor y, Tensor mean, Tensor rstd) {
#if !ENCORE_HOST_BACKEND
  const auto in_registers = [&](auto width) {
    layer_norm_in_registers<T, decltype(width)::value>(device, x, gain, bias, epsilon, y, mean, rstd);
  };
  if (with_lane_rows<T>({y, x.trunk, x.branch, gain, bias}, in_registers)) return;
#endif
  using S = Sum<T>;
  const std::int64_t width = y.extent(1);
  const SummedRows<T> in(x);           // (N, C)
  const S* gains = elements<S>(gain);  // (C)
  const S* biases = elements<S>(bias);
  T* out = elements<T>(y);
  S* means = elements<S>(mean);  // (N)
  S* rstds = elements<S>(rstd);
  const S floor = static_cast<S>(epsilon);
  for_rows(
      device, x.branch ? "encore::layer_norm_of_sum" : "encore::layer_norm", y.extent(0),
      KOKKOS_LAMBDA(const Row& row) {
        const T* from = in.add_up(row, row.index);
        T* to = out + row.index * width;
        const S center = row.sum<S>(width, [&](std::int64_t c) { return static_cast<S>(from[c]); }) /
                         static_cast<S>(width);
        // A second pass instead of E[x^2] - mean^2, which cancels when the mean is large.
        const S squares = row.sum<S>(width, [&](std::int64_t c) {
          const S difference = static_cast<S>(from[c]) - center;
          return difference * difference;
        });
        const S scale = S(1) / Kokkos::sqrt(squares / static_cast<S>(width) + floor);
        map_row(row, width, to, [&](std::int64_t c) {
          return static_cast<T>((static_cast<S>(from[c]) - center) * scale * gains[c] + biases[c]);
        });
        row.once([&] {
          means[row.index] = center;
          rstds[row.index] = scale;
        });
      });
}

// With xhat = (x - mean) rstd and g = gain dy:  dx = rstd (g - mean(g) - xhat mean(g xhat)), the means over
// the row; dgain += sum over rows of dy xhat, dbias += sum over rows of dy.

#if ENCORE_HOST_BACKEND

/// A task is a block of rows, which also sums its part of dgain and dbias; then each column adds up the
/// blocks in order.
template <class T>
void layer_norm_backward_rows(const Device& device, Tensor x, Tensor gain, Tensor mean, Tensor rstd,
                              Tensor dy, const ResidualSum& dx, Tensor dgain, Tensor dbias) {
  using S = Sum<T>;
  const std::int64_t rows = x.extent(0);
  const std::int64_t width = x.extent(1);
  const std::int64_t blocks = (rows + norm_block_rows - 1) / norm_block_rows;
  const T* in = elements<T>(x);
  const T* gradient = elements<T>(dy);
  T* out = elements<T>(dx.trunk);
  const BranchGradient<T> branch(dx);
  const S* gains = elements<S>(gain);
  const S* means = elements<S>(mean);
  const S* rstds = elements<S>(rstd);
  S* partial = static_cast<S*>(device.workspace(static_cast<std::size_t>(2 * blocks * width) * sizeof(S)));
  for_rows(
      device,
      BranchGradient<T>::has_own(dx) ? "encore::layer_norm_of_sum_backward" : "encore::layer_norm_backward",
      blocks, KOKKOS_LAMBDA(const Row& block) {
        const S* factors = gains;  // a local pointer: through the closure's, sums would gather
        S* gain_sums = partial + 2 * block.index * width;
        S* bias_sums = gain_sums + width;
        block.each(width, [&](std::int64_t c) {
          gain_sums[c] = S(0);
          bias_sums[c] = S(0);
        });
        const std::int64_t end =
            (block.index + 1) * norm_block_rows < rows ? (block.index + 1) * norm_block_rows : rows;
        for (std::int64_t r = block.index * norm_block_rows; r < end; ++r) {
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
          branch.set(block, r, dx_row);
        }
      });
  add_blocks(device, "encore::layer_norm_backward_parameters", partial, blocks, width, elements<S>(dgain),
             elements<S>(dbias));
}

#else

/// A warp walks a few rows, each in its registers, and adds up their parts of dgain and dbias there.
template <class T, int Width>
void layer_norm_backward_in_registers(const Device& device, Tensor x, Tensor gain, Tensor mean, Tensor rstd,
                                      Tensor dy, const ResidualSum& dx, Tensor dgain, Tensor dbias) {
  using S = Sum<T>;
  const std::int64_t rows = x.extent(0);
  const std::int64_t rows_of_warp = norm_rows_of_warp(rows);
  const BlockSums<S> sums(device, (rows + rows_of_warp - 1) / rows_of_warp, 2 * Width);
  const T* in = elements<T>(x);
  const T* gradient = elements<T>(dy);
  T* out = elements<T>(dx.trunk);
  const BranchGradient<T> branch(dx);
  const S* gains = elements<S>(gain);
  const S* means = elements<S>(mean);
  const S* rstds = elements<S>(rstd);
  for_rows(
      device,
      BranchGradient<T>::has_own(dx) ? "encore::layer_norm_of_sum_backward" : "encore::layer_norm_backward",
      sums.count, KOKKOS_LAMBDA(const Row& warp) {
        constexpr int size = LaneRow<Width>::size;
        const LaneRow<Width> lanes(warp);
        S factors[size], gain_sums[size] = {}, bias_sums[size] = {};
        lanes.load(gains, factors);
        const std::int64_t begin = warp.index * rows_of_warp;
        const std::int64_t end = begin + rows_of_warp < rows ? begin + rows_of_warp : rows;
        for (std::int64_t r = begin; r < end; ++r) {
          S xhat[size], dy_row[size];
          lanes.load(in + r * Width, xhat);
          lanes.load(gradient + r * Width, dy_row);
          const S center = means[r], scale = rstds[r];
          lanes.each([&](const int n) { xhat[n] = (xhat[n] - center) * scale; });
          const S mean_g = lanes.template sum<S>([&](const int n) { return factors[n] * dy_row[n]; }) /
                           static_cast<S>(Width);
          const S mean_g_xhat = lanes.template sum<S>([&](const int n) {
            return factors[n] * dy_row[n] * xhat[n];
          }) / static_cast<S>(Width);
          lanes.each([&](const int n) {
            gain_sums[n] += dy_row[n] * xhat[n];
            bias_sums[n] += dy_row[n];
            dy_row[n] = scale * (factors[n] * dy_row[n] - mean_g - xhat[n] * mean_g_xhat);
          });
          lanes.store(dy_row, out + r * Width);
          branch.set(lanes, r, dy_row);
        }
        lanes.store(gain_sums, sums.row(warp.index));
        lanes.store(bias_sums, sums.row(warp.index) + Width);
      });
  add_sums<S>(device, "encore::layer_norm_backward_parameters", sums, Width, elements<S>(dgain),
              elements<S>(dbias));
}

/// A warp computes a row of dx; dgain and dbias are a second pass.
template <class T>
void layer_norm_backward_rows(const Device& device, Tensor x, Tensor gain, Tensor mean, Tensor rstd,
                              Tensor dy, const ResidualSum& dx, Tensor dgain, Tensor dbias) {
  const auto in_registers = [&](auto width) {
    layer_norm_backward_in_registers<T, decltype(width)::value>(device, x, gain, mean, rstd, dy, dx, dgain,
                                                                dbias);
  };
  if (with_lane_rows<T>({x, dy, dx.trunk, dx.branch, gain}, in_registers)) return;
  using S = Sum<T>;
  const std::int64_t rows = x.extent(0), width = x.extent(1);
  const T* in = elements<T>(x);
  const T* gradient = elements<T>(dy);
  T* out = elements<T>(dx.trunk);
  const BranchGradient<T> branch(dx);
  const S* gains = elements<S>(gain);
  const S* means = elements<S>(mean);
  const S* rstds = elements<S>(rstd);
  // The sums come first, because dx may lie where dy does.
  add_norm_terms<S>(
      device, "encore::layer_norm_backward_parameters", rows, width,
      KOKKOS_LAMBDA(const std::int64_t r, const std::int64_t c) {
        const S dy_c = static_cast<S>(gradient[r * width + c]);
        return NormTerms<S>{dy_c * ((static_cast<S>(in[r * width + c]) - means[r]) * rstds[r]), dy_c};
      },
      elements<S>(dgain), elements<S>(dbias));
  for_rows(
      device,
      BranchGradient<T>::has_own(dx) ? "encore::layer_norm_of_sum_backward" : "encore::layer_norm_backward",
      rows, KOKKOS_LAMBDA(const Row& row) {
        const std::int64_t r = row.index;
        const T* x_row = in + r * width;
        const T* dy_row = gradient + r * width;
        T* dx_row = out + r * width;
        const S center = means[r], scale = rstds[r];
        const auto xhat = [&](std::int64_t c) { return (static_cast<S>(x_row[c]) - center) * scale; };
        const S mean_g = row.sum<S>(width, [&](std::int64_t c) {
          return gains[c] * static_cast<S>(dy_row[c]);
        }) / static_cast<S>(width);
        const S mean_g_xhat = row.sum<S>(width, [&](std::int64_t c) {
          return gains[c] * static_cast<S>(dy_row[c]) * xhat(c);
        }) / static_cast<S>(width);
        map_row(row, width, dx_row, [&](std::int64_t c) {
          return static_cast<T>(scale *
                                (gains[c] * static_cast<S>(dy_row[c]) - mean_g - xhat(c) * mean_g_xhat));
        });
        branch.set(row, r, dx_row);
      });
}

#endif

}  // namespace

void layer_norm(const Device& device, const ResidualSum& x, Tensor gain, Tensor bias, double epsilon,
                Tensor y, Tensor mean, Tensor rstd) {
  check_rank("x", x.trunk, 2);
  check_sum(x, x.trunk);
  const DType sums = sum_type(x.trunk.dtype);
  check("gain", gain, sums, {x.trunk.extent(1)});
  check("bias", bias, sums, {x.trunk.extent(1)});
  check("y", y, x.trunk.dtype, {x.trunk.extent(0), x.trunk.extent(1)});
  check("mean", mean, sums, {x.trunk.extent(0)});
  check("rstd", rstd, sums, {x.trunk.extent(0)});
  dispatch(y.dtype, [&](auto type) {
    layer_norm_rows<decltype(type)>(device, x, gain, bias, epsilon, y, mean, rstd);
  });
}

void layer_norm_backward(const Device& device, Tensor x, Tensor gain, Tensor mean, Tensor rstd, Tensor dy,
                         const ResidualSum& dx, Tensor dgain, Tensor dbias) {
  check_rank("x", x, 2);
  const DType sums = sum_type(x.dtype);
  check("gain", gain, sums, {x.extent(1)});
  check("mean", mean, sums, {x.extent(0)});
  check("rstd", rstd, sums, {x.extent(0)});
  check("dy", dy, x.dtype, {x.extent(0), x.extent(1)});
  check_sum(dx, x);
  check("dgain", dgain, sums, {x.extent(1)});
  check("dbias", dbias, sums, {x.extent(1)});
  if (x.extent(0) == 0) return;
  dispatch(x.dtype, [&](auto type) {
    layer_norm_backward_rows<decltype(type)>(device, x, gain, mean, rstd, dy, dx, dgain, dbias);
  });
}

}  // namespace encore::kernels
