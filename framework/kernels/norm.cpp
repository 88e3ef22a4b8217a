// Layer normalisation (Ba et al. 2016): y = gain * (x - mean) * rstd + bias over each row, rstd = 1 /
// sqrt(variance + epsilon). Mean and rstd are kept for backward. And root mean square normalisation (Zhang
// and Sennrich 2019): y = gain * x * rrms, rrms = 1 / sqrt(mean(x^2) + epsilon), kept for backward.
// Where x is a ResidualSum, each row is added up just before it is normalised, and its gradient goes through
// the branch's dropout just after it is computed: the same numbers as in passes of their own.
#include "kernels/check.hpp"
#include "kernels/dropout_rows.hpp"

namespace encore::kernels {
namespace {

/// Adds up the rows of a sum; nothing to do for an x that is there.
template <class T>
class SummedRows {
 public:
  explicit SummedRows(const ResidualSum& x)
      : trunk_(elements<T>(x.trunk)),
        sum_(x.branch ? elements<T>(x.branch) : trunk_),
        width_(x.trunk.extent(1)),
        dropout_(x.batch, x.dropout) {}

  /// Row r of x.
  KOKKOS_FORCEINLINE_FUNCTION const T* add_up(const Row& row, std::int64_t r) const {
    T* sum = sum_ + r * width_;
    if (sum_ != trunk_) {
      dropout_.template apply<true>(row, r, width_, sum, trunk_ + r * width_, sum);
      row.barrier();
    }
    return sum;
  }

 private:
  T* trunk_;
  T* sum_;
  std::int64_t width_;
  DropoutRows<T> dropout_;
};

/// Gives the branch of a sum its gradient, row by row; nothing to do where it is the trunk's.
template <class T>
class BranchGradient {
 public:
  explicit BranchGradient(const ResidualSum& dx)
      : branch_(has_own(dx) ? elements<T>(dx.branch) : nullptr),
        width_(dx.trunk.extent(1)),
        dropout_(dx.batch, dx.dropout) {}

  /// Whether trunk and branch have gradients of their own.
  static bool has_own(const ResidualSum& dx) { return dx.branch && dx.branch.data != dx.trunk.data; }

  /// From row r of the trunk's gradient.
  KOKKOS_FORCEINLINE_FUNCTION void set(const Row& row, std::int64_t r, const T* trunk) const {
    if (branch_ == nullptr) return;
    row.barrier();
    dropout_.template apply<false>(row, r, width_, trunk, nullptr, branch_ + r * width_);
  }

 private:
  T* branch_;
  std::int64_t width_;
  DropoutRows<T> dropout_;
};

template <class T>
void layer_norm_rows(const Device& device, const ResidualSum& x, Tensor gain, Tensor bias, double epsilon,
                     Tensor y, Tensor mean, Tensor rstd) {
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
                              Tensor dy, const ResidualSum& dx, Tensor dgain, Tensor dbias) {
  using S = Sum<T>;
  const std::int64_t rows = x.extent(0);
  const std::int64_t width = x.extent(1);
  const std::int64_t blocks = (rows + block_rows - 1) / block_rows;
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
          branch.set(block, r, dx_row);
        }
      });
  add_blocks(device, "encore::layer_norm_backward_parameters", partial, blocks, width, elements<S>(dgain),
             elements<S>(dbias));
}

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

/// With xhat = x rrms and g = gain dy:  dx = rrms (g - xhat mean(g xhat)), the mean over the row; dgain +=
/// sum over rows of dy xhat, in blocks of rows as above.
template <class T>
void rms_norm_backward_rows(const Device& device, Tensor x, Tensor gain, Tensor rrms, Tensor dy,
                            const ResidualSum& dx, Tensor dgain) {
  using S = Sum<T>;
  const std::int64_t rows = x.extent(0);
  const std::int64_t width = x.extent(1);
  const std::int64_t blocks = (rows + block_rows - 1) / block_rows;
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
          branch.set(block, r, dx_row);
        }
      });
  add_blocks<S>(device, "encore::rms_norm_backward_parameters", partial, blocks, width, elements<S>(dgain),
                nullptr);
}

/// x, or the gradient of x, is of the shape and type of `rows`, (N, C).
void check_sum(const ResidualSum& x, const Tensor& rows) {
  check("the trunk", x.trunk, rows.dtype, {rows.extent(0), rows.extent(1)});
  if (x.branch) check("the branch", x.branch, rows.dtype, {rows.extent(0), rows.extent(1)});
  if (x.dropout.probability == 0.0) return;
  ENCORE_REQUIRE(x.branch && x.batch != nullptr,
                 "dropout acts on the branch of a sum over the rows of a batch");
  check("the batch's examples", x.batch->examples, DType::int64, {rows.extent(0)});
  ENCORE_REQUIRE(rows.size() == 0 || x.branch.data != x.trunk.data,
                 "with dropout trunk and branch lie apart");
}

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
