// Sums over whole blocks, in double and in a fixed order: chunks of a fixed size first, then the chunks one
// after another.
#include <encore/rows.hpp>

#include "kernels/check.hpp"

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

template <class T, class Map>
void sum_elements(const Device& device, const char* label, Tensor x, const Map& map, double* result) {
  const T* in = elements<T>(x);
  const std::int64_t count = x.size();
  const std::int64_t chunks = (count + chunk - 1) / chunk;
  double* partial =
      static_cast<double*>(device.workspace(static_cast<std::size_t>(chunks + 1) * sizeof(double)));
  for_rows(
      device, label, chunks, KOKKOS_LAMBDA(const Row& row) {
        const T* from = in + row.index * chunk;
        const std::int64_t size = count - row.index * chunk < chunk ? count - row.index * chunk : chunk;
        const double sum = row.sum<double>(
            size, [&](std::int64_t i) { return map(static_cast<double>(static_cast<Sum<T>>(from[i]))); });
        row.once([&] { partial[row.index] = sum; });
      });
  for_rows(
      device, "encore::sum_of_chunks", 1, KOKKOS_LAMBDA(const Row& row) {
        const double sum = row.sum<double>(chunks, [&](std::int64_t i) { return partial[i]; });
        row.once([&] { *result = sum; });
      });
}

}  // namespace

void sum(const Device& device, Tensor x, double* result) {
  dispatch(x.dtype,
           [&](auto type) { sum_elements<decltype(type)>(device, "encore::sum", x, Identity{}, result); });
}

void sum_of_squares(const Device& device, Tensor x, double* result) {
  dispatch(x.dtype, [&](auto type) {
    sum_elements<decltype(type)>(device, "encore::sum_of_squares", x, Square{}, result);
  });
}

void clip_scale(const Device& device, const double* squares, double limit, double* scale) {
  for_rows(
      device, "encore::clip_scale", 1, KOKKOS_LAMBDA(const Row& row) {
        row.once([&] {
          const double norm = Kokkos::sqrt(*squares);
          *scale = limit > 0.0 && norm > limit ? limit / norm : 1.0;
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
