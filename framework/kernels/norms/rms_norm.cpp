// SPDX-License-Identifier: BSD-3-Clause
// The kernels rms_norm and rms_norm_backward (Zhang and Sennrich 2019): y (N, C) = gain * x * rrms over each
// row, rrms = 1 / sqrt(mean(x^2) + epsilon). Kept for backward: rrms (N). The layers of norms call them. The
// order of sums decides the bits of runs and must stay. Read norm_rows.hpp next, which both norms share.
#include "kernels/norms/norm_rows.hpp"

namespace encore::kernels {
namespace {

#if !ENCORE_HOST_BACKEND

/// Normalizes a row in the registers of a GPU's warp.
template <class T, int Width>
void rms_norm_in_registers(const Device& device, const ResidualSum& x, Tensor gain, double epsilon, Tensor y,
                           Tensor rrms) {
  using S = Sum<T>;
  const SummedRows<T> in(x);
  const S* gains = elements<S>(gain);
  T* out = elements<T>(y);
  S* scales = elements<S>(rrms);
  const S floor = static_cast<S>(epsilon);
  for_rows(
      device, x.branch ? "encore::rms_norm_of_sum" : "encore::rms_norm", y.extent(0),
      KOKKOS_LAMBDA(const Row& row) {
        const LaneRow<Width> lanes(row);
        S values[LaneRow<Width>::size];
        in.add_up(lanes, row.index, values);
        const S squares = lanes.template sum<S>([&](const int n) { return values[n] * values[n]; });
        const S scale = S(1) / Kokkos::sqrt(squares / static_cast<S>(Width) + floor);
        S factors[LaneRow<Width>::size];
        lanes.load(gains, factors);
        lanes.each([&](const int n) { values[n] = values[n] * scale * factors[n]; });
        lanes.store(values, out + row.index * Width);
        row.once([&] { scales[row.index] = scale; });
      });
}

#endif

template <class T>
void rms_norm_rows(const Device& device, const ResidualSum& x, Tensor gain, double epsilon, Tensor y,
                   Tensor rrms) {
#if !ENCORE_HOST_BACKEND
  const auto in_registers = [&](auto width) {
    rms_norm_in_registers<T, decltype(width)::value>(device, x, gain, epsilon, y, rrms);
  };
  if (with_lane_rows<T>({y, x.trunk, x.branch, gain}, in_registers)) return;
#endif
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
// over rows of dy xhat, in blocks of rows, as in layer_norm.cpp.

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

template <class T, int Width>
void rms_norm_backward_in_registers(const Device& device, Tensor x, Tensor gain, Tensor rrms, Tensor dy,
                                    const ResidualSum& dx, Tensor dgain) {
  using S = Sum<T>;
  const std::int64_t rows = x.extent(0);
  const std::int64_t rows_of_warp = norm_rows_of_warp(rows);
  const BlockSums<S> sums(device, (rows + rows_of_warp - 1) / rows_of_warp, Width);
  const T* in = elements<T>(x);
  const T* gradient = elements<T>(dy);
  T* out = elements<T>(dx.trunk);
  const BranchGradient<T> branch(dx);
  const S* gains = elements<S>(gain);
  const S* scales = elements<S>(rrms);
  for_rows(
      device,
      BranchGradient<T>::has_own(dx) ? "encore::rms_norm_of_sum_backward" : "encore::rms_norm_backward",
      sums.count, KOKKOS_LAMBDA(const Row& warp) {
        constexpr int size = LaneRow<Width>::size;
        const LaneRow<Width> lanes(warp);
        S factors[size], gain_sums[size] = {};
        lanes.load(gains, factors);
        const std::int64_t begin = warp.index * rows_of_warp;
        const std::int64_t end = begin + rows_of_warp < rows ? begin + rows_of_warp : rows;
        for (std::int64_t r = begin; r < end; ++r) {
          S xhat[size], dy_row[size];
          lanes.load(in + r * Width, xhat);
          lanes.load(gradient + r * Width, dy_row);
          const S scale = scales[r];
          lanes.each([&](const int n) { xhat[n] *= scale; });
          const S mean_g_xhat = lanes.template sum<S>([&](const int n) {
            return factors[n] * dy_row[n] * xhat[n];
          }) / static_cast<S>(Width);
          lanes.each([&](const int n) {
            gain_sums[n] += dy_row[n] * xhat[n];
            dy_row[n] = scale * (factors[n] * dy_row[n] - xhat[n] * mean_g_xhat);
          });
          lanes.store(dy_row, out + r * Width);
          branch.set(lanes, r, dy_row);
        }
        lanes.store(gain_sums, sums.row(warp.index));
      });
  add_sums<S>(device, "encore::rms_norm_backward_parameters", sums, Width, elements<S>(dgain),
              static_cast<S*>(nullptr));
}

template <class T>
void rms_norm_backward_rows(const Device& device, Tensor x, Tensor gain, Tensor rrms, Tensor dy,
                            const ResidualSum& dx, Tensor dgain) {
  const auto in_registers = [&](auto width) {
    rms_norm_backward_in_registers<T, decltype(width)::value>(device, x, gain, rrms, dy, dx, dgain);
  };
  if (with_lane_rows<T>({x, dy, dx.trunk, dx.branch, gain}, in_registers)) return;
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
