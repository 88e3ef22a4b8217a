// Attention in bfloat16 by tensor cores: a warp owns 16 queries, or 16 keys, of one sequence and head, whose
// sums stay in its registers, and visits the other side's rows in tiles of 16 in ascending order (Dao 2023,
// FlashAttention-2). Weights are rounded to bfloat16 before they multiply values, their sum is not. Nothing
// is added by two warps, and a row has the same bits whatever rows stand beside it. The formulas stand in
// attention_host.hpp. Place in the flow: attention.cpp launches it where head_size is one of the sizes below,
// else attention_tiled.hpp. Read next: attention_warp.hpp.
#pragma once

#include <initializer_list>
#include <limits>
#include <type_traits>

#include "kernels/attention_pairs.hpp"
#include "kernels/attention_warp.hpp"

namespace encore::kernels {

/// Calls work(std::integral_constant<int, D>) for a head size with kernels; false where there are none.
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

/// Whether rows of these operands can be read 16 bytes at a time.
inline bool reads_chunks(std::initializer_list<SliceRows<const bfloat16>> operands) {
  for (const auto& rows : operands)
    if (reinterpret_cast<std::uintptr_t>(rows.data) % 16 != 0 || rows.row % 8 != 0) return false;
  return true;
}

#if defined(KOKKOS_ENABLE_CUDA)

/// A team is four warps, each with a tile of its own.
template <class Kernel>
struct WarpTeams {
  static constexpr int bytes = Kernel::memory * static_cast<int>(sizeof(bfloat16));  // of a warp
  static constexpr int warps = 4;
  static_assert(warps * bytes <= 40000);
  /// Who waits for memory lets others compute: small heads leave registers for 16 warps on a multiprocessor.
  using Bounds = Kokkos::LaunchBounds<warps * warp_lanes, Kernel::head_size <= 64 ? 4 : 2>;
  Kernel kernel;
  std::int64_t count;  // warps with a tile

  KOKKOS_FUNCTION void operator()(const Kokkos::TeamPolicy<ExecutionSpace>::member_type& team) const {
    KOKKOS_IF_ON_DEVICE(
        (const std::int64_t number = std::int64_t{team.league_rank()} * warps + team.team_rank();
         auto* const memory = static_cast<char*>(team.team_scratch(0).get_shmem_aligned(warps * bytes, 16));
         if (number < count) kernel.run(TensorCore{static_cast<int>(threadIdx.x)}, number,
                                        reinterpret_cast<bfloat16*>(memory + team.team_rank() * bytes));))
  }
};

/// False where there are more tiles than can be launched at once.
template <class Kernel>
bool launch_warps(const Device& device, const char* label, const Kernel& kernel) {
  using Teams = WarpTeams<Kernel>;
  const std::int64_t count = kernel.p.sequences * kernel.p.heads * kernel.tiles;
  const std::int64_t teams = (count + Teams::warps - 1) / Teams::warps;
  if (teams > std::numeric_limits<int>::max()) return false;
  if (teams == 0) return true;
  Kokkos::TeamPolicy<ExecutionSpace, typename Teams::Bounds> policy(device.space(), static_cast<int>(teams),
                                                                    Teams::warps, warp_lanes);
  policy.set_scratch_size(0, Kokkos::PerTeam(Teams::warps * Teams::bytes + 16));
  Kokkos::parallel_for(label, detail::without_waiting(policy), Teams{kernel, count});
  return true;
}

/// False where the problem is none for these kernels.
inline bool launch_tensor_cores(const Device& device, const AttentionProblem& p,
                                const SliceRows<const bfloat16>& q, const SliceRows<const bfloat16>& k,
                                const SliceRows<const bfloat16>& v, bfloat16* out, float* log_sum) {
  if (p.stride > 0 || !reads_chunks({q, k, v})) return false;
  bool launched = false;
  with_head_size(p.head_size, [&](auto size) {
    const std::int64_t tiles = (p.queries.longest + own_rows - 1) / own_rows;
    launched = launch_warps(device, "encore::attention",
                            WarpAttention<decltype(size)::value>{p, q, k, v, out, log_sum, tiles});
  });
  return launched;
}

/// The same of the backward pass.
inline bool launch_tensor_cores_backward(const Device& device, const AttentionProblem& p,
                                         const SliceRows<const bfloat16>& q,
                                         const SliceRows<const bfloat16>& k,
                                         const SliceRows<const bfloat16>& v, const bfloat16* out,
                                         const float* log_sum, const bfloat16* dout,
                                         const SliceRows<bfloat16>& dq, const SliceRows<bfloat16>& dk,
                                         const SliceRows<bfloat16>& dv, float* dbias) {
  if (p.stride > 0 ||
      !reads_chunks({q, k, v, {dout, p.width}, {dq.data, dq.row}, {dk.data, dk.row}, {dv.data, dv.row}}))
    return false;
  auto* const delta = static_cast<float*>(
      device.workspace(static_cast<std::size_t>(p.queries.tokens * p.heads) * sizeof(float)));
  bool launched = false;
  with_head_size(p.head_size, [&](auto size) {
    constexpr int D = decltype(size)::value;
    const std::int64_t query_tiles = (p.queries.longest + own_rows - 1) / own_rows;
    const std::int64_t key_tiles = (p.keys.longest + own_rows - 1) / own_rows;
    launched = launch_warps(device, "encore::attention_query_backward",
                            WarpQueryGradient<D>{p, q, k, v, out, log_sum, dout, dq, delta, query_tiles}) &&
               launch_warps(device, "encore::attention_key_backward",
                            WarpKeyGradient<D>{p, q, k, v, log_sum, dout, delta, dk, dv, key_tiles});
  });
  if (launched && dbias != nullptr)
    run_pairs(
        device, "encore::attention_bias_backward", 2 * p.keys.tokens,
        PairwiseBiasGradient<bfloat16>{{p, q, k, v, log_sum, dout, delta, dq, dk, dv, nullptr}, p, dbias});
  return launched;
}

#endif

}  // namespace encore::kernels
