// SPDX-License-Identifier: BSD-3-Clause
// Attention in bfloat16 by tensor cores. Place in the flow: attention.cpp launches it where head_size is one
// of the sizes below, else attention_tiled.hpp. The formulas are in attention_host.hpp. No sum has two warps,
// and a row has the same bits whatever rows are computed beside it. Read next: attention_warp.hpp.
//
// A warp owns 16 queries, or 16 keys, of one sequence and head, whose sums stay in its registers, and visits
// the other side's rows in tiles of 16 in ascending order (Dao 2023, FlashAttention-2). The backward pass of
// short sequences is one kernel, in which a warp owns a sequence and head. Weights are rounded to bfloat16
// before they multiply values, their sum is not.
#pragma once

#include <initializer_list>
#include <limits>
#include <type_traits>

#include "kernels/attention/attention_pairs.hpp"
#include "kernels/attention/attention_warp.hpp"
#include "kernels/attention/attention_warp_short.hpp"

namespace encore::kernels {

/// Calls work(std::integral_constant<int, D>) for a head size with kernels. Returns false if there are none.
template <class Work>
bool with_head_size(std::int64_t head_size, const Work& work) {
  switch (head_size) {
    case 32:
      work(std::integral_constant<int, 32>{});
      return true;
    case 64:
      work(std::integral_constant<int, 64>{});
      return true;
    case 128:
      work(std::integral_constant<int, 128>{});
      return true;
    default:
      return false;
  }
}

/// Returns whether rows of these operands can be read 16 bytes at a time.
inline bool reads_chunks(std::initializer_list<SliceRows<const bfloat16>> operands) {
  for (const auto& rows : operands)
    if (reinterpret_cast<std::uintptr_t>(rows.data) % 16 != 0 || rows.row % 8 != 0) return false;
  return true;
}

/// Says whether heads of this size have the backward pass in one kernel: with larger ones too few warps would
/// fit on a multiprocessor.
template <int D>
inline constexpr bool has_short_gradient = D <= 64;
/// Returns whether WarpShortGradient holds every sequence of the problem.
inline bool is_short(const AttentionProblem& p) {
  constexpr int longest = WarpShortGradient<32>::longest;
  return p.queries.longest <= longest && p.keys.longest <= longest;
}

#if defined(KOKKOS_ENABLE_CUDA)

/// A team is a few warps, each with a tile of its own.
template <class Kernel>
struct WarpTeams {
  static constexpr int bytes = Kernel::memory * static_cast<int>(sizeof(bfloat16));  // of a warp
  static constexpr int most = 40000;                                                 // of a team
  static constexpr int warps = 4 * bytes <= most ? 4 : 2;
  static_assert(warps * bytes <= most);
  /// A warp that waits for memory lets others compute: as many warps on a multiprocessor as registers and
  /// shared memory allow.
  static constexpr int by_registers = Kernel::head_size <= 32 ? 20 : Kernel::head_size <= 64 ? 16 : 8;
  static constexpr int by_memory = 200000 / bytes;
  static constexpr int resident = by_registers < by_memory ? by_registers : by_memory;
  using Bounds = Kokkos::LaunchBounds<warps * warp_lanes, resident / warps>;
  Kernel kernel;
  int count;  // warps with a tile

  KOKKOS_FUNCTION void operator()(const Kokkos::TeamPolicy<ExecutionSpace>::member_type& team) const {
    KOKKOS_IF_ON_DEVICE(
        (const int number = team.league_rank() * warps + team.team_rank();
         // Its size is 0, so its address does not depend on the rest; launch_warps asks for 16 bytes more.
         auto* const scratch = static_cast<char*>(team.team_scratch(0).get_shmem(0));
         auto* const memory = scratch + (-reinterpret_cast<std::uintptr_t>(scratch) & 15U);
         if (number < count) kernel.run(TensorCore{static_cast<int>(threadIdx.x)}, number,
                                        reinterpret_cast<bfloat16*>(memory + team.team_rank() * bytes));))
  }
};

/// Returns false if there are more tiles than can be launched at once.
template <class Kernel>
bool launch_warps(const Device& device, const char* label, const Kernel& kernel) {
  using Teams = WarpTeams<Kernel>;
  const std::int64_t count = kernel.grid.warps;
  if (count > std::numeric_limits<int>::max() - Teams::warps) return false;
  if (count == 0) return true;
  const auto teams = static_cast<int>((count + Teams::warps - 1) / Teams::warps);
  Kokkos::TeamPolicy<ExecutionSpace, typename Teams::Bounds> policy(device.space(), teams, Teams::warps,
                                                                    warp_lanes);
  policy.set_scratch_size(0, Kokkos::PerTeam(Teams::warps * Teams::bytes + 16));
  Kokkos::parallel_for(label, detail::without_waiting(policy), Teams{kernel, static_cast<int>(count)});
  return true;
}

/// Returns false if these kernels cannot compute the problem.
inline bool launch_tensor_cores(const Device& device, const AttentionProblem& p,
                                const SliceRows<const bfloat16>& q, const SliceRows<const bfloat16>& k,
                                const SliceRows<const bfloat16>& v, bfloat16* out, float* log_sum) {
  if (p.stride > 0 || !reads_chunks({q, k, v, {out, p.width}})) return false;
  bool launched = false;
  with_head_size(p.head_size, [&](auto size) {
    launched =
        launch_warps(device, "encore::attention",
                     WarpAttention<decltype(size)::value>{p, q, k, v, out, log_sum, {p, p.queries.longest}});
  });
  return launched;
}

/// Launches the backward pass, if it can, as launch_tensor_cores does for the forward pass. `in_one`: false
/// for two kernels even if one would do.
inline bool launch_tensor_cores_backward(const Device& device, const AttentionProblem& p,
                                         const SliceRows<const bfloat16>& q,
                                         const SliceRows<const bfloat16>& k,
                                         const SliceRows<const bfloat16>& v, const bfloat16* out,
                                         const float* log_sum, const bfloat16* dout,
                                         const SliceRows<bfloat16>& dq, const SliceRows<bfloat16>& dk,
                                         const SliceRows<bfloat16>& dv, float* dbias, bool in_one = true) {
  if (p.stride > 0 || !reads_chunks({q,
                                     k,
                                     v,
                                     {out, p.width},
                                     {dout, p.width},
                                     {dq.data, dq.row},
                                     {dk.data, dk.row},
                                     {dv.data, dv.row}}))
    return false;
  auto* const delta = static_cast<float*>(
      device.workspace(static_cast<std::size_t>(p.queries.tokens * p.heads) * sizeof(float)));
  bool launched = false;
  with_head_size(p.head_size, [&](auto size) {
    constexpr int D = decltype(size)::value;
    if constexpr (has_short_gradient<D>) {
      if (in_one && is_short(p)) {
        launched = launch_warps(device, "encore::attention_short_backward",
                                WarpShortGradient<D>{p, q, k, v, out, log_sum, dout, dq, dk, dv,
                                                     dbias ? delta : nullptr, WarpGrid(p)});
        return;
      }
    }
    launched =
        launch_warps(
            device, "encore::attention_query_backward",
            WarpQueryGradient<D>{p, q, k, v, out, log_sum, dout, dq, delta, {p, p.queries.longest}}) &&
        launch_warps(device, "encore::attention_key_backward",
                     WarpKeyGradient<D>{p, q, k, v, log_sum, dout, delta, dk, dv, {p, p.keys.longest}});
  });
  if (launched && dbias != nullptr)
    run_pairs(
        device, "encore::attention_bias_backward", 2 * p.keys.tokens,
        PairwiseBiasGradient<bfloat16>{{p, q, k, v, log_sum, dout, delta, dq, dk, dv, nullptr}, p, dbias});
  return launched;
}

#endif

}  // namespace encore::kernels
