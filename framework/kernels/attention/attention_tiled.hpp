// SPDX-License-Identifier: BSD-3-Clause
// Attention tile by tile on a GPU: a team of threads owns a tile of queries or of keys in one sequence and
// head, and visits the other side's tiles in ascending order. No element of an output may be accumulated by
// more than one team, so that equal runs have equal bits, and a row must have the same bits whatever rows are
// computed beside it. attention.cpp includes it, and on the host its test; where a function returns false,
// attention.cpp calls the slower kernels of attention_pairs.hpp. The formulas are in attention_host.hpp. Read
// next: attention_tiled_forward.hpp, attention_tiled_backward.hpp.
#pragma once

#include <limits>

#include <encore/device.hpp>

#include "kernels/attention/attention_pairs.hpp"
#include "kernels/attention/attention_tiled_backward.hpp"
#include "kernels/attention/attention_tiled_forward.hpp"

namespace encore::kernels {

/// Threads of a team: two warps of an NVIDIA GPU, a wavefront of an AMD GPU. The bits do not depend on the
/// number, because one thread adds up each sum (attention_tiles.hpp).
inline constexpr int attention_threads = 64;

/// Returns the number of teams, one for each tile of each sequence and head; 0: there is nothing to compute,
/// or there are more teams than can be launched at once.
inline int teams_of(const AttentionProblem& p, std::int64_t tiles) {
  const double teams = static_cast<double>(p.sequences) * static_cast<double>(p.heads * tiles);
  return teams <= std::numeric_limits<int>::max() ? static_cast<int>(teams) : 0;
}

template <class Kernel>
void run_tiles(const Device& device, const char* label, int threads, const Kernel& kernel) {
  const int teams = teams_of(kernel.p, kernel.tiles);
  if (teams == 0) return;
  Kokkos::TeamPolicy<ExecutionSpace> policy(device.space(), teams, threads);
  // 16 bytes more than get_shmem() asks for, because Kokkos may align the beginning of the memory.
  policy.set_scratch_size(0, Kokkos::PerTeam(kernel.layout.bytes + 16));
  launch_attention_kernel(label, policy, kernel);
}

/// Computes the outputs and the logarithms of the sums. Returns false, without a launch, if tiles cannot
/// compute it: a query also sees keys at multiples of a stride, no scratch memory holds a head, or there are
/// more teams than can be launched at once.
template <class T>
bool launch_tiles(const Device& device, const AttentionProblem& p, const SliceRows<const T>& q,
                  const SliceRows<const T>& k, const SliceRows<const T>& v, T* out, Sum<T>* log_sum,
                  int threads = attention_threads) {
  using Kernel = TiledAttention<T>;
  const auto shape = choose_tiles<typename Kernel::Layout, T>(p.head_size);
  if (p.stride > 0 || shape.own == 0) return false;
  const std::int64_t tiles = (p.queries.longest + shape.own - 1) / shape.own;
  if (tiles > 0 && teams_of(p, tiles) == 0) return false;
  run_tiles(device, "encore::attention", threads,
            Kernel{p, q, k, v, out, log_sum, tiles, shape, typename Kernel::Layout(shape)});
  return true;
}

/// Computes the gradients. Returns false, without a launch, for the same reasons as launch_tiles().
template <class T>
bool launch_tiles_backward(const Device& device, const AttentionProblem& p, const SliceRows<const T>& q,
                           const SliceRows<const T>& k, const SliceRows<const T>& v, const T* out,
                           const Sum<T>* log_sum, const T* dout, const SliceRows<T>& dq,
                           const SliceRows<T>& dk, const SliceRows<T>& dv, Sum<T>* dbias,
                           int threads = attention_threads) {
  using S = Sum<T>;
  using OfQueries = TiledQueryGradient<T>;
  using OfKeys = TiledKeyGradient<T>;
  const auto queries = choose_tiles<typename OfQueries::Layout, T>(p.head_size);
  const auto keys = choose_tiles<typename OfKeys::Layout, T>(p.head_size);
  if (p.stride > 0 || queries.own == 0 || keys.own == 0) return false;
  const std::int64_t query_tiles = (p.queries.longest + queries.own - 1) / queries.own;
  const std::int64_t key_tiles = (p.keys.longest + keys.own - 1) / keys.own;
  if ((query_tiles > 0 && teams_of(p, query_tiles) == 0) || (key_tiles > 0 && teams_of(p, key_tiles) == 0))
    return false;
  S* const delta =
      static_cast<S*>(device.workspace(static_cast<std::size_t>(p.queries.tokens * p.heads) * sizeof(S)));
  run_tiles(device, "encore::attention_query_backward", threads,
            OfQueries{p, q, k, v, out, log_sum, dout, dq, delta, query_tiles, queries,
                      typename OfQueries::Layout(queries)});
  run_tiles(device, "encore::attention_key_backward", threads,
            OfKeys{p, q, k, v, log_sum, dout, delta, dk, dv, key_tiles, keys, typename OfKeys::Layout(keys)});
  if (dbias != nullptr)
    run_pairs(device, "encore::attention_bias_backward", 2 * p.keys.tokens,
              PairwiseBiasGradient<T>{{p, q, k, v, log_sum, dout, delta, dq, dk, dv, nullptr}, p, dbias});
  return true;
}

}  // namespace encore::kernels
