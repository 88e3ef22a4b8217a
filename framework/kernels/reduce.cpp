// SPDX-License-Identifier: BSD-3-Clause
// The kernels sum, sum_of_squares, clip_scale and count_not_finite (encore/kernels.hpp), for clipping and
// checks of gradients in training. Sums are in double and in a fixed order: first chunks, of a fixed size or
// those of the optimizer, then runs of chunks if there are many, then the rest in one task. Ranks use the
// parts in chunk_sums.hpp.
#include <encore/rows.hpp>

#include "kernels/check.hpp"
#include "kernels/chunk_sums.hpp"

namespace encore::kernels {
namespace {

constexpr std::int64_t chunk = 8192;  // elements per task

struct Identity {
  KOKKOS_INLINE_FUNCTION double operator()(double x) const { return x; }
};
struct Square {
  KOKKOS_INLINE_FUNCTION double operator()(double x) const { return x * x; }
};
struct NotFinite {
  KOKKOS_INLINE_FUNCTION double operator()(double x) const { return x - x == 0.0 ? 0.0 : 1.0; }
};

constexpr std::int64_t run = 1024;  // chunks per task, where they are many

/// Returns room for the sums of this many chunks, and of runs of them.
double* partial_sums(const Device& device, std::int64_t chunks) {
  return static_cast<double*>(
      device.workspace(static_cast<std::size_t>(room_for_chunk_sums(chunks)) * sizeof(double)));
}

template <class T, class Map>
void sum_elements(const Device& device, const char* label, Tensor x, const Map& map, double* result) {
  const T* in = elements<T>(x);
  const std::int64_t count = x.size();
  const std::int64_t chunks = (count + chunk - 1) / chunk;
  double* partial = partial_sums(device, chunks);
  for_rows(
      device, label, chunks, KOKKOS_LAMBDA(const Row& row) {
        const T* from = in + row.index * chunk;
        const std::int64_t size = count - row.index * chunk < chunk ? count - row.index * chunk : chunk;
        const double sum = row.sum<double>(
            size, [&](std::int64_t i) { return map(static_cast<double>(static_cast<Sum<T>>(from[i]))); });
        row.once([&] { partial[row.index] = sum; });
      });
  sum_of_chunks(device, partial, chunks, result);
}

template <class T>
void sum_squares_of_gradients(const Device& device, const Blocks& blocks, double* partial) {
  const T* gradients = elements<T>(blocks.gradients);
  const Chunk* chunks = blocks.chunks;
  const ChunkGradient* known = blocks.chunk_gradients;
  for_uneven_rows(
      device, "encore::sum_of_squares", blocks.chunk_count, KOKKOS_LAMBDA(const Row& row) {
        if (known != nullptr && known[row.index] != ChunkGradient::present) {
          row.once([&] { partial[row.index] = 0.0; });
          return;
        }
        const Chunk chunk = chunks[row.index];
        const T* from = gradients + chunk.begin;
        const Square square;
        const double sum =
            row.sum<double>(chunk.size, [&](std::int64_t i) { return square(static_cast<double>(from[i])); });
        row.once([&] { partial[row.index] = sum; });
      });
}

}  // namespace

std::int64_t room_for_chunk_sums(std::int64_t chunks) {
  return chunks + chunks / run + 1;
}

void chunk_squares(const Device& device, const Blocks& blocks, double* partial) {
  dispatch_parameters(blocks.gradients.dtype,
                      [&](auto type) { sum_squares_of_gradients<decltype(type)>(device, blocks, partial); });
}

/// Many chunks are summed in runs first, because one task is one thread.
void sum_of_chunks(const Device& device, double* partial, std::int64_t chunks, double* result) {
  if (chunks > run) {
    double* const of_runs = partial + chunks;
    const std::int64_t runs = (chunks + run - 1) / run;
    for_rows(
        device, "encore::sum_of_chunks", runs, KOKKOS_LAMBDA(const Row& row) {
          const double* from = partial + row.index * run;
          const std::int64_t size = chunks - row.index * run < run ? chunks - row.index * run : run;
          const double sum = row.sum<double>(size, [&](std::int64_t i) { return from[i]; });
          row.once([&] { of_runs[row.index] = sum; });
        });
    partial = of_runs;
    chunks = runs;
  }
  for_rows(
      device, "encore::sum_of_chunks", 1, KOKKOS_LAMBDA(const Row& row) {
        const double sum = row.sum<double>(chunks, [&](std::int64_t i) { return partial[i]; });
        row.once([&] { *result = sum; });
      });
}

void sum(const Device& device, Tensor x, double* result) {
  dispatch(x.dtype,
           [&](auto type) { sum_elements<decltype(type)>(device, "encore::sum", x, Identity{}, result); });
}

void sum_of_squares(const Device& device, Tensor x, double* result) {
  dispatch(x.dtype, [&](auto type) {
    sum_elements<decltype(type)>(device, "encore::sum_of_squares", x, Square{}, result);
  });
}

void sum_of_squares(const Device& device, const Blocks& blocks, double* result) {
  double* partial = partial_sums(device, blocks.chunk_count);
  chunk_squares(device, blocks, partial);
  sum_of_chunks(device, partial, blocks.chunk_count, result);
}

void clip_scale(const Device& device, const double* squares, double limit, double factor, double* scale) {
  for_rows(
      device, "encore::clip_scale", 1, KOKKOS_LAMBDA(const Row& row) {
        row.once([&] {
          const double norm = Kokkos::sqrt(*squares) / factor;
          *scale = (limit > 0.0 && norm > limit ? limit / norm : 1.0) / factor;
        });
      });
}

std::int64_t count_not_finite(const Device& device, Tensor x) {
  const Kokkos::View<double, DeviceMemory> count("encore::count");
  dispatch(x.dtype, [&](auto type) {
    sum_elements<decltype(type)>(device, "encore::count_not_finite", x, NotFinite{}, count.data());
  });
  device.fence();
  double result = 0.0;
  Kokkos::deep_copy(result, count);
  return static_cast<std::int64_t>(result);
}

}  // namespace encore::kernels
