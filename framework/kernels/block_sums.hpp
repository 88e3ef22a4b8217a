// SPDX-License-Identifier: BSD-3-Clause
// Adds up sums over blocks of rows on a GPU, in an order that depends only on the number of blocks: runs of
// neighbours, each in order, and then these in order. A run belongs to a warp, so that no warp walks all
// blocks. kernels/norms/norm_rows.hpp and kernels/products/gemm_epilogue.hpp use it.
//
// Functions of headers that contain a kernel's lambda must be static. For each file nvcc keeps separate
// pointers to the host's copy functions of such a lambda; if the linker merged the functions, one file would
// use the pointers of another.
#pragma once

#include <encore/rows.hpp>

#if !ENCORE_HOST_BACKEND

namespace encore::kernels {

/// The sums of `count` blocks, (count, columns), in the workspace of a device.
template <class S>
struct BlockSums {
  S* sums;
  std::int64_t count, columns;

  BlockSums(const Device& device, std::int64_t blocks, std::int64_t width)
      : sums(static_cast<S*>(device.workspace(static_cast<std::size_t>(blocks * width) * sizeof(S)))),
        count(blocks),
        columns(width) {}

  KOKKOS_FORCEINLINE_FUNCTION S* row(std::int64_t block) const { return sums + block * columns; }

  static constexpr int runs = 32;
  /// Adds up, in a column, the blocks of a run in order.
  KOKKOS_FORCEINLINE_FUNCTION S of_run(int run, std::int64_t column) const {
    const std::int64_t length = (count + runs - 1) / runs;
    const std::int64_t end = (run + 1) * length < count ? (run + 1) * length : count;
    S sum = S(0);
    constexpr int together = 8;  // are loaded before the first is added
    std::int64_t block = run * length;
    for (; block + together <= end; block += together) {
      S values[together];
      unroll<together>([&](const int k) { values[k] = row(block + k)[column]; });
      unroll<together>([&](const int k) { sum += values[k]; });
    }
    for (; block < end; ++block) sum += row(block)[column];
    return sum;
  }
};

/// Adds the sums over the blocks of the first `width` columns to first (width), and those of the columns
/// after them to second; second is null if there are none.
template <class S>
static void add_sums(const Device& device, const char* label, const BlockSums<S>& blocks, std::int64_t width,
                     S* first, S* second) {
  constexpr int piece = 32;  // columns of a task
  constexpr int runs = BlockSums<S>::runs;
  const std::int64_t pieces = (blocks.columns + piece - 1) / piece;
  using Policy = Kokkos::TeamPolicy<ExecutionSpace, Kokkos::LaunchBounds<runs * piece, 1>>;
  Policy policy(device.space(), static_cast<int>(pieces), runs, piece);
  policy.set_scratch_size(0, Kokkos::PerTeam(runs * piece * sizeof(S)));
  Kokkos::parallel_for(
      label, detail::without_waiting(policy), KOKKOS_LAMBDA(const typename Policy::member_type& team) {
        S* const of_runs =
            static_cast<S*>(team.team_scratch(0).get_shmem_aligned(runs * piece * sizeof(S), alignof(S)));
        const std::int64_t begin = team.league_rank() * std::int64_t{piece};
        const std::int64_t here = blocks.columns - begin < piece ? blocks.columns - begin : piece;
        const int run = team.team_rank();
        Kokkos::parallel_for(Kokkos::ThreadVectorRange(team, here), [&](const std::int64_t i) {
          of_runs[run * piece + i] = blocks.of_run(run, begin + i);
        });
        team.team_barrier();
        if (run != 0) return;
        Kokkos::parallel_for(Kokkos::ThreadVectorRange(team, here), [&](const std::int64_t i) {
          const std::int64_t column = begin + i;
          S* const to = column < width ? first + column : second + (column - width);
          S sum = *to;
          for (int k = 0; k < runs; ++k) sum += of_runs[k * piece + i];
          *to = sum;
        });
      });
}

}  // namespace encore::kernels

#endif
