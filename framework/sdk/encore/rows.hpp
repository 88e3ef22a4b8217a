// for_rows: one source for kernels that treat a matrix row by row (or a block of parameters chunk by chunk).
// On the host a row belongs to one thread, whose inner loops become vector instructions; on a GPU to the
// lanes of one warp. Either way the order of a sum depends on the length of the row only.
//
//   for_rows(device, "my::scale_rows", rows, KOKKOS_LAMBDA(const Row& row) {
//     const float largest = row.max<float>(columns, [&](std::int64_t c) { return x(row.index, c); });
//     row.each(columns, [&](std::int64_t c) { y(row.index, c) = x(row.index, c) / largest; });
//   });
//
// for_uneven_rows is the same for rows of which some cost far less than others.
//
// Within one row element i is always visited by the same lane, so `each` may read what an earlier `each`
// wrote at the same i; elsewhere only after a barrier.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>

#include <encore/space.hpp>

// Tells the host compiler that the iterations of the loop that follows are independent. Device compilers need
// no hint.
#if defined(KOKKOS_ENABLE_OPENMP) && !defined(KOKKOS_ENABLE_CUDA) && !defined(KOKKOS_ENABLE_HIP)
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
  /// From here on every lane may read what the others have written.
  KOKKOS_FORCEINLINE_FUNCTION void barrier() const {}
};

template <class Body>
void for_rows(const Device& device, const char* label, std::int64_t rows, const Body& body) {
  if (rows == 0) return;
  Kokkos::parallel_for(
      label, Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<std::int64_t>>(device.space(), 0, rows),
      [=](const std::int64_t index) { body(Row{index}); });
}

/// A thread that is done takes the next few rows, where for_rows gives each an equal number at the start.
template <class Body>
void for_uneven_rows(const Device& device, const char* label, std::int64_t rows, const Body& body) {
  if (rows == 0) return;
  using Policy =
      Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<std::int64_t>, Kokkos::Schedule<Kokkos::Dynamic>>;
  // Long runs read memory as it likes to be read; sixteen for each thread even the work out.
  const std::int64_t rows_at_once =
      std::clamp<std::int64_t>(rows / (16 * device.space().concurrency()), 16, 128);
  Kokkos::parallel_for(label,
                       Policy(device.space(), 0, rows, Kokkos::ChunkSize(static_cast<int>(rows_at_once))),
                       [=](const std::int64_t index) { body(Row{index}); });
}

#else

namespace detail {
using Policy = Kokkos::TeamPolicy<ExecutionSpace>;
using Member = Policy::member_type;

/// A kernel's arguments travel with its launch, up to 4 KiB. From 512 bytes on Kokkos would send them through
/// a buffer, and have the host wait until the kernel before has read its own there.
template <class Any>
auto without_waiting(const Any& policy) {
  return Kokkos::Experimental::require(policy, Kokkos::Experimental::WorkItemProperty::HintLightWeight);
}
}  // namespace detail

struct Row {
  std::int64_t index;
  const detail::Member& member;

  template <class Body>
  KOKKOS_FUNCTION void each(std::int64_t count, const Body& body) const {
    Kokkos::parallel_for(Kokkos::ThreadVectorRange(member, count), body);
  }
  template <class S, class Term>
  KOKKOS_FUNCTION S sum(std::int64_t count, const Term& term) const {
    S result = 0;
    Kokkos::parallel_reduce(
        Kokkos::ThreadVectorRange(member, count),
        [&](const std::int64_t i, S& partial) { partial += static_cast<S>(term(i)); }, result);
    return result;
  }
  template <class S, class Term>
  KOKKOS_FUNCTION S max(std::int64_t count, const Term& term) const {
    S result = -Kokkos::Experimental::infinity<S>::value;
    Kokkos::parallel_reduce(
        Kokkos::ThreadVectorRange(member, count),
        [&](const std::int64_t i, S& partial) {
          const S value = static_cast<S>(term(i));
          partial = value > partial ? value : partial;
        },
        Kokkos::Max<S>(result));
    return result;
  }
  template <class Body>
  KOKKOS_FUNCTION void once(const Body& body) const {
    Kokkos::single(Kokkos::PerThread(member), body);
  }
  KOKKOS_FUNCTION void barrier() const {
#if defined(KOKKOS_ENABLE_CUDA)
    KOKKOS_IF_ON_DEVICE((__syncwarp();))
#else
    KOKKOS_IF_ON_DEVICE((__threadfence_block();))  // the lanes of an AMD wavefront run in step
#endif
  }
};

namespace detail {
template <class Body>
struct RowKernel {
  std::int64_t rows;
  Body body;
  KOKKOS_FUNCTION void operator()(const Member& member) const {
    const std::int64_t index = std::int64_t{member.league_rank()} * member.team_size() + member.team_rank();
    if (index < rows) body(Row{index, member});
  }
};
}  // namespace detail

template <class Body>
void for_rows(const Device& device, const char* label, std::int64_t rows, const Body& body) {
  if (rows == 0) return;
  constexpr int rows_per_team = 4;
  const int teams = static_cast<int>((rows + rows_per_team - 1) / rows_per_team);
  Kokkos::parallel_for(label,
                       detail::without_waiting(detail::Policy(device.space(), teams, rows_per_team, 32)),
                       detail::RowKernel<Body>{rows, body});
}

/// A GPU hands out rows as it goes anyway.
template <class Body>
void for_uneven_rows(const Device& device, const char* label, std::int64_t rows, const Body& body) {
  for_rows(device, label, rows, body);
}

#endif

}  // namespace encore
