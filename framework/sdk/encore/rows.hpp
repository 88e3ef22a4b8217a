// SPDX-License-Identifier: BSD-3-Clause
// for_rows and for_uneven_rows: launch kernels that treat a matrix row by row, or a block of parameters chunk
// by chunk, from one source for host and GPU. On the host a row belongs to one thread, whose inner loops
// become vector instructions; on a GPU to the lanes of one warp. Either way the order of a sum depends on the
// length of the row only, and digests depend on this order. Read next: view.hpp.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>

#include <encore/error.hpp>
#include <encore/space.hpp>

// Asserts to the host compiler that the iterations of the loop that follows are independent. Device compilers
// need no hint.
#if !defined(KOKKOS_ENABLE_CUDA) && !defined(KOKKOS_ENABLE_HIP)
#define ENCORE_HOST_BACKEND 1
#define ENCORE_PRAGMA(text) _Pragma(#text)
#define ENCORE_SIMD ENCORE_PRAGMA(omp simd)
#define ENCORE_SIMD_SUM(variable) ENCORE_PRAGMA(omp simd reduction(+ : variable))
#define ENCORE_SIMD_MAX(variable) ENCORE_PRAGMA(omp simd reduction(max : variable))
#else
#define ENCORE_HOST_BACKEND 0
#define ENCORE_SIMD
#define ENCORE_SIMD_SUM(variable)
#define ENCORE_SIMD_MAX(variable)
#endif

namespace encore {

namespace detail {
template <class Body, int... I>
KOKKOS_FORCEINLINE_FUNCTION void unroll(const Body& body, std::integer_sequence<int, I...>) {
  (body(I), ...);
}
}  // namespace detail

/// body(0), body(1), ... body(N - 1), written out: a compiler makes vector instructions of a loop only if the
/// loops in it are gone before it looks.
template <int N, class Body>
KOKKOS_FORCEINLINE_FUNCTION void unroll(const Body& body) {
  detail::unroll(body, std::make_integer_sequence<int, N>{});
}

// Row is what a kernel sees of its row. Within one row element i is always visited by the same lane, so
// `each` may read what an earlier `each` wrote at the same i; elsewhere only after a barrier.
//
//   for_rows(device, "my::scale_rows", rows, KOKKOS_LAMBDA(const Row& row) {
//     const float largest = row.max<float>(columns, [&](std::int64_t c) { return x(row.index, c); });
//     row.each(columns, [&](std::int64_t c) { y(row.index, c) = x(row.index, c) / largest; });
//   });
//
// for_uneven_rows is for rows of which some cost far less than others.
#if ENCORE_HOST_BACKEND

// Everything here is inlined by force: only a body whose captures are plain variables becomes good vector
// code.
struct Row {
  std::int64_t index;

  template <class Body>
  KOKKOS_FORCEINLINE_FUNCTION void each(std::int64_t count, const Body& body) const {
    ENCORE_SIMD
    for (std::int64_t i = 0; i < count; ++i) body(i);
  }
  template <class S, class Term>
  KOKKOS_FORCEINLINE_FUNCTION S sum(std::int64_t count, const Term& term) const {
    S result = 0;
    ENCORE_SIMD_SUM(result)
    for (std::int64_t i = 0; i < count; ++i) result += static_cast<S>(term(i));
    return result;
  }
  template <class S, class Term>
  KOKKOS_FORCEINLINE_FUNCTION S max(std::int64_t count, const Term& term) const {
    S result = -std::numeric_limits<S>::infinity();
    ENCORE_SIMD_MAX(result)
    for (std::int64_t i = 0; i < count; ++i) {
      const S value = static_cast<S>(term(i));
      result = value > result ? value : result;
    }
    return result;
  }
  /// Runs body() once, not once per lane.
  template <class Body>
  KOKKOS_FORCEINLINE_FUNCTION void once(const Body& body) const {
    body();
  }
  /// Makes what the lanes have written visible to every lane of the row.
  KOKKOS_FORCEINLINE_FUNCTION void barrier() const {}
};

template <class Body>
void for_rows(const Device& device, const char* label, std::int64_t rows, const Body& body) {
  if (rows == 0) return;
  Kokkos::parallel_for(
      label, Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<std::int64_t>>(device.space(), 0, rows),
      [=](const std::int64_t index) { body(Row{index}); });
}

/// A thread that has finished takes the next few rows, where for_rows gives each an equal number at the
/// start.
template <class Body>
void for_uneven_rows(const Device& device, const char* label, std::int64_t rows, const Body& body) {
  if (rows == 0) return;
  using Policy =
      Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<std::int64_t>, Kokkos::Schedule<Kokkos::Dynamic>>;
  // Long runs read memory in order; sixteen for each thread balance the work.
  const std::int64_t rows_at_once =
      std::clamp<std::int64_t>(rows / (16 * device.space().concurrency()), 16, 128);
  Kokkos::parallel_for(label,
                       Policy(device.space(), 0, rows, Kokkos::ChunkSize(static_cast<int>(rows_at_once))),
                       [=](const std::int64_t index) { body(Row{index}); });
}

#else

namespace detail {
/// A kernel's arguments travel with its launch, up to 4 KiB. From 512 bytes on Kokkos would send them through
/// a buffer, and have the host wait until the kernel before has read its own there.
template <class Any>
auto without_waiting(const Any& policy) {
  return Kokkos::Experimental::require(policy, Kokkos::Experimental::WorkItemProperty::HintLightWeight);
}

inline constexpr int row_lanes = 32;

/// Returns `value` of the lane whose number differs from this lane's in these bits.
template <class S>
KOKKOS_FORCEINLINE_FUNCTION S from_lane([[maybe_unused]] S value, [[maybe_unused]] int bits) {
#if defined(KOKKOS_ENABLE_CUDA)
  KOKKOS_IF_ON_DEVICE((return __shfl_xor_sync(0xFFFFFFFFU, value, bits, row_lanes);))
#else
  KOKKOS_IF_ON_DEVICE((return __shfl_xor(value, bits, row_lanes);))
#endif
  KOKKOS_IF_ON_HOST((return value;))
}
}  // namespace detail

/// Lane l visits the elements l, l + 32, ...; the lanes' parts of a sum are added in pairs.
struct Row {
  std::int64_t index;

  KOKKOS_FORCEINLINE_FUNCTION static int lane() {
    KOKKOS_IF_ON_DEVICE((return static_cast<int>(threadIdx.x);))
    KOKKOS_IF_ON_HOST((return 0;))
  }
  template <class Body>
  KOKKOS_FORCEINLINE_FUNCTION void each(std::int64_t count, const Body& body) const {
    for (std::int64_t i = lane(); i < count; i += detail::row_lanes) body(i);
  }
  template <class S, class Term>
  KOKKOS_FORCEINLINE_FUNCTION S sum(std::int64_t count, const Term& term) const {
    S result = 0;
    each(count, [&](const std::int64_t i) { result += static_cast<S>(term(i)); });
    for (int bits = detail::row_lanes / 2; bits > 0; bits /= 2) result += detail::from_lane(result, bits);
    return result;
  }
  template <class S, class Term>
  KOKKOS_FORCEINLINE_FUNCTION S max(std::int64_t count, const Term& term) const {
    S result = -Kokkos::Experimental::infinity<S>::value;
    const auto take = [&](const S value) { result = value > result ? value : result; };
    each(count, [&](const std::int64_t i) { take(static_cast<S>(term(i))); });
    for (int bits = detail::row_lanes / 2; bits > 0; bits /= 2) take(detail::from_lane(result, bits));
    return result;
  }
  template <class Body>
  KOKKOS_FORCEINLINE_FUNCTION void once(const Body& body) const {
    if (lane() == 0) body();
  }
  KOKKOS_FORCEINLINE_FUNCTION void barrier() const {
#if defined(KOKKOS_ENABLE_CUDA)
    KOKKOS_IF_ON_DEVICE((__syncwarp();))
#else
    KOKKOS_IF_ON_DEVICE((__threadfence_block();))  // the lanes of an AMD wavefront run in step
#endif
  }
};

namespace detail {
inline constexpr int rows_of_team = 4;

template <class Body>
static __global__ void __launch_bounds__(rows_of_team* row_lanes)
    run_rows(const std::int64_t rows, const Body body) {
  const std::int64_t index = std::int64_t{blockIdx.x} * rows_of_team + threadIdx.y;
  if (index < rows) body(Row{index});
}

/// Reports a kernel that is launched without Kokkos to the tools of Kokkos, as Kokkos does for its own.
class ToldToTools {
 public:
  ToldToTools(const ExecutionSpace& space, const char* label) : told_(Kokkos::Tools::profileLibraryLoaded()) {
    if (told_)
      Kokkos::Tools::beginParallelFor(label, Kokkos::Tools::Experimental::device_id(space), &kernel_);
  }
  ~ToldToTools() {
    if (told_) Kokkos::Tools::endParallelFor(kernel_);
  }
  ToldToTools(const ToldToTools&) = delete;
  ToldToTools& operator=(const ToldToTools&) = delete;

 private:
  bool told_;
  std::uint64_t kernel_ = 0;
};
}  // namespace detail

/// This kernel is launched without Kokkos: Kokkos teams cost the host a quarter more time, and a step of a
/// small batch has hundreds of launches.
template <class Body>
void for_rows(const Device& device, const char* label, std::int64_t rows, const Body& body) {
  if (rows == 0) return;
  const SpaceInstance& space = device.space();
  const detail::ToldToTools told(space, label);
  const dim3 teams(static_cast<unsigned>((rows + detail::rows_of_team - 1) / detail::rows_of_team));
  const dim3 threads(detail::row_lanes, detail::rows_of_team);
#if defined(KOKKOS_ENABLE_CUDA)
  detail::run_rows<<<teams, threads, 0, space.cuda_stream()>>>(rows, body);
  const cudaError_t status = cudaGetLastError();
  if (status != cudaSuccess) throw Error(std::string(label) + ": " + cudaGetErrorString(status));
#else
  detail::run_rows<<<teams, threads, 0, space.hip_stream()>>>(rows, body);
  const hipError_t status = hipGetLastError();
  if (status != hipSuccess) throw Error(std::string(label) + ": " + hipGetErrorString(status));
#endif
}

/// A GPU distributes rows dynamically in any case.
template <class Body>
void for_uneven_rows(const Device& device, const char* label, std::int64_t rows, const Body& body) {
  for_rows(device, label, rows, body);
}

#endif

}  // namespace encore
