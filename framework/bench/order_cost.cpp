// SPDX-License-Identifier: BSD-3-Clause
// OrderCost: times the sums of a training step without a fixed order, to show what the fixed order costs.
// The "free" versions read and add the same values as Encore's kernels, in parts cut by the number of
// threads or with atomic additions. StepCase::measure calls it. The names of quantities are stored, so they
// stay. Read order_cost.hpp first.
#include "bench/order_cost.hpp"

#include <algorithm>

#include <encore/kernels.hpp>
#include <encore/view.hpp>

#include "bench/clock.hpp"

namespace encore::bench {
namespace {

using Policy = Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<std::int64_t>>;

#if ENCORE_HOST_BACKEND

/// Returns the number of parts: one for each thread, because each thread adds to sums of its own.
std::int64_t parts_of(const Device& device, std::int64_t rows) {
  return std::min<std::int64_t>(rows, device.space().concurrency());
}

/// Computes result (columns) += partial (parts, columns).
template <class S>
void add_parts(const Device& device, const S* partial, std::int64_t parts, std::int64_t columns, S* result) {
  Kokkos::parallel_for(
      "encore::bench_add_parts", Policy(device.space(), 0, columns), KOKKOS_LAMBDA(const std::int64_t c) {
        S sum = S(0);
        for (std::int64_t part = 0; part < parts; ++part) sum += partial[part * columns + c];
        result[c] += sum;
      });
}

template <class T>
void free_column_sums(const Device& device, const T* values, std::int64_t rows, std::int64_t columns,
                      Sum<T>* result) {
  using S = Sum<T>;
  const std::int64_t parts = parts_of(device, rows);
  S* partial = static_cast<S*>(device.workspace(static_cast<std::size_t>(parts * columns) * sizeof(S)));
  Kokkos::parallel_for(
      "encore::bench_column_sums", Policy(device.space(), 0, parts), KOKKOS_LAMBDA(const std::int64_t part) {
        S* sums = partial + part * columns;
        for (std::int64_t c = 0; c < columns; ++c) sums[c] = S(0);
        const std::int64_t end = (part + 1) * rows / parts;
        for (std::int64_t r = part * rows / parts; r < end; ++r)
          for (std::int64_t c = 0; c < columns; ++c) sums[c] += static_cast<S>(values[r * columns + c]);
      });
  add_parts(device, partial, parts, columns, result);
}

#else

constexpr std::int64_t block_rows = 64;

/// Returns the number of blocks of block_rows rows.
std::int64_t parts_of(const Device&, std::int64_t rows) {
  return (rows + block_rows - 1) / block_rows;
}

/// Computes result (columns) += values (rows, columns). There is a thread for each column of a block of rows,
/// so that neighbouring threads read neighbouring addresses; atomic additions join the sums of the blocks.
template <class T>
void free_column_sums(const Device& device, const T* values, std::int64_t rows, std::int64_t columns,
                      Sum<T>* result) {
  using S = Sum<T>;
  const std::int64_t blocks = parts_of(device, rows);
  Kokkos::parallel_for(
      "encore::bench_column_sums", Policy(device.space(), 0, blocks * columns),
      KOKKOS_LAMBDA(const std::int64_t i) {
        const std::int64_t c = i % columns, first = i / columns * block_rows;
        const std::int64_t end = first + block_rows < rows ? first + block_rows : rows;
        S sum = S(0);
        for (std::int64_t r = first; r < end; ++r) sum += static_cast<S>(values[r * columns + c]);
        Kokkos::atomic_add(result + c, sum);
      });
}

/// Computes result (columns) += partial (parts, columns).
template <class S>
void add_parts(const Device& device, const S* partial, std::int64_t parts, std::int64_t columns, S* result) {
  free_column_sums<S>(device, partial, parts, columns, result);
}

#endif

/// Uses a thread for each row on a host, and for each element on a GPU, where neighbouring threads then read
/// neighbouring addresses.
template <class T>
void free_embedding_backward(const Device& device, const RowSet& batch, const T* dy, std::int64_t width,
                             Sum<T>* table) {
  using S = Sum<T>;
  const std::int32_t* ids = elements<std::int32_t>(batch.ids);
  const std::int64_t columns = memory::host_reaches_device() ? width : 1;  // columns of one thread
  Kokkos::parallel_for(
      "encore::bench_embedding", Policy(device.space(), 0, batch.size.tokens * width / columns),
      KOKKOS_LAMBDA(const std::int64_t i) {
        const std::int64_t first = i * columns;
        S* to = table + std::int64_t{ids[first / width]} * width + first % width;
        for (std::int64_t c = 0; c < columns; ++c) Kokkos::atomic_add(to + c, static_cast<S>(dy[first + c]));
      });
}

template <class S>
double free_sum_of_squares(const Device& device, const S* values, std::int64_t count) {
  double sum = 0.0;
  Kokkos::parallel_reduce(
      "encore::bench_sum_of_squares", Policy(device.space(), 0, count),
      KOKKOS_LAMBDA(const std::int64_t i, double& partial) {
        const double value = static_cast<double>(values[i]);
        partial += value * value;
      },
      sum);
  return sum;
}

/// Returns whether the matrix at `path` ("encoder.0.feed_forward.up.weight") has a bias beside it.
bool has_bias(const model::Model& model, const std::string& path) {
  const std::string_view weight = "weight";
  if (!path.ends_with(weight)) return false;
  const std::string bias = path.substr(0, path.size() - weight.size()) + "bias";
  return std::ranges::any_of(model.parameters().slices(),
                             [&](const memory::ParameterSlice& slice) { return slice.path == bias; });
}

constexpr const char* fixed_biases = "gradients of weights and biases";
constexpr const char* free_biases = "free gradients of weights and biases";
constexpr const char* free_norms = "free gradients of norms";
constexpr const char* free_tokens = "free gradient of the token table";
constexpr const char* free_length = "free length of the gradient";

}  // namespace

const std::vector<Reduction>& reductions() {
  static const std::vector<Reduction> list = {
      {.name = "matrix products", .kernels = {}, .fixed = "gemm", .free = "matmul"},
      // The sums of biases' gradients are computed within the products that compute the gradients of weights,
      // so these products are on both sides of the comparison.
      {.name = "gradients of biases", .kernels = {}, .fixed = fixed_biases, .free = free_biases},
      // This measures only how the parts are joined, because both versions do the same within a part.
      {.name = "gradients of norms",
       .kernels = {"encore::layer_norm_backward_parameters", "encore::rms_norm_backward_parameters"},
       .fixed = {},
       .free = free_norms},
      {.name = "gradient of the token table",
       .kernels = {"encore::embedding_backward"},
       .fixed = {},
       .free = free_tokens},
      {.name = "length of the gradient",
       .kernels = {"encore::sum_of_squares", "encore::sum_of_chunks"},
       .fixed = {},
       .free = free_length}};
  return list;
}

OrderCost::OrderCost(const Device& device, const model::Model& model, const config::ModelTable& table,
                     DType type, std::int64_t largest_tokens)
    : device_(device),
      type_(type),
      width_(table.width),
      parameters_(model.parameters().count()),
      vocabulary_(1) {
  std::int64_t widest = width_;
  for (const memory::ParameterSlice& slice : model.parameters().slices()) {
    const bool norm = slice.path.ends_with("norm.bias") || slice.path.ends_with("norm.gain");
    if (slice.path == "embedding.tokens") vocabulary_ = slice.spec.shape[0];
    if (norm) norm_vectors_ += times_used(slice, table);
    if (norm || slice.spec.shape.size() != 2 || !has_bias(model, slice.path)) continue;
    const Weight weight{slice.spec.shape[0], slice.spec.shape[1]};
    widest = std::max({widest, weight.out, weight.in});
    weights_.insert(weights_.end(), static_cast<std::size_t>(times_used(slice, table)), weight);
  }
  const std::size_t sum = size_of(sum_type(type_));
  rows_ = memory::DeviceBuffer("encore::bench_rows",
                               static_cast<std::size_t>(2 * largest_tokens * widest) * size_of(type_));
  fill_varied(device_, type_, rows_.data(), 2 * largest_tokens * widest);
  sums_ = memory::DeviceBuffer("encore::bench_sums",
                               static_cast<std::size_t>(std::max(parameters_, widest)) * sum);
  table_ = memory::DeviceBuffer("encore::bench_table", static_cast<std::size_t>(vocabulary_ * width_) * sum);
}

record::Samples OrderCost::measure(const RowSet& batch) const {
  record::Samples samples;
  dispatch(type_, [&](auto element) {
    using T = decltype(element);
    using S = Sum<T>;
    const auto* rows = reinterpret_cast<const T*>(rows_.data());
    auto* sums = reinterpret_cast<S*>(sums_.data());
    const std::int64_t tokens = batch.size.tokens;
    const auto add_gradients = [&](const Weight& weight, bool with_bias) {
      const Tensor dy(rows_.data(), type_, {tokens, weight.out});
      const Tensor x(rows_.data() + dy.bytes(), type_, {tokens, weight.in});
      const Tensor dweight(sums, sum_type(type_), {weight.out, weight.in});
      const Tensor dbias(sums + dweight.size(), sum_type(type_), {weight.out});
      kernels::linear_backward_parameters(device_, dy, x, dweight, with_bias ? dbias : Tensor());
      if (!with_bias) free_column_sums(device_, rows, tokens, weight.out, sums + dweight.size());
    };
    const auto seconds_of_gradients = [&](bool with_bias) {
      return seconds_of(device_, [&] {
        for (const Weight& weight : weights_) add_gradients(weight, with_bias);
      });
    };
    samples[fixed_biases] = seconds_of_gradients(true);
    samples[free_biases] = seconds_of_gradients(false);
    const std::int64_t parts = parts_of(device_, tokens);
    auto* partial = static_cast<S*>(device_.workspace(static_cast<std::size_t>(parts * width_) * sizeof(S)));
    samples[free_norms] = seconds_of(device_, [&] {
      for (std::int64_t vector = 0; vector < norm_vectors_; ++vector)
        add_parts(device_, partial, parts, width_, sums);
    });
    samples[free_tokens] = seconds_of(device_, [&] {
      free_embedding_backward(device_, batch, rows, width_, reinterpret_cast<S*>(table_.data()));
    });
    double length = 0.0;
    samples[free_length] =
        seconds_of(device_, [&] { length = free_sum_of_squares(device_, sums, parameters_); });
    static_cast<void>(length);
  });
  return samples;
}

}  // namespace encore::bench
