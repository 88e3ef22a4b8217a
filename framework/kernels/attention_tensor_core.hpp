// Attention in bfloat16 by tensor cores: a warp owns 16 queries, or 16 keys, of one sequence and head, whose
// sums stay in its registers, and visits the other side's rows in tiles of 16 in ascending order (Dao 2023,
// FlashAttention-2). Weights are rounded to bfloat16 before they multiply values, their sum is not. Nothing
// is added by two warps, and a row has the same bits whatever rows stand beside it. The formulas stand in
// attention_host.hpp. Place in the flow: attention.cpp launches it where head_size is one of the sizes below,
// else attention_tiled.hpp. Read next: tensor_core.hpp.
#pragma once

#include <initializer_list>
#include <limits>
#include <type_traits>

#include <encore/rows.hpp>

#include "kernels/attention_pairs.hpp"
#include "kernels/tensor_core.hpp"

namespace encore::kernels {

inline constexpr int own_rows = 16, visited_rows = 16;
inline constexpr int pieces =
    visited_rows / 8;  // results C side by side: rows own_rows, columns visited_rows

/// Rows of own_rows x D as factors A, straight from memory; zeros behind `rows`.
template <int D>
struct OwnRows {
  std::uint32_t a[D / 16][4];

  KOKKOS_INLINE_FUNCTION OwnRows(int lane, const SliceRows<const bfloat16>& from, int rows) {
    const int g = lane / 4, t = lane % 4;
    const bfloat16* upper = from[g] + 2 * t;
    const bfloat16* lower = from[g + 8] + 2 * t;
    const bool has_upper = g < rows, has_lower = g + 8 < rows;
    unroll<D / 16>([&](const int k) {
      a[k][0] = has_upper ? word_at(upper + 16 * k) : 0;
      a[k][1] = has_lower ? word_at(lower + 16 * k) : 0;
      a[k][2] = has_upper ? word_at(upper + 16 * k + 8) : 0;
      a[k][3] = has_lower ? word_at(lower + 16 * k + 8) : 0;
    });
  }
};

/// Results of own_rows x visited_rows.
struct PairProducts {
  float c[pieces][4];
};

/// Sums of own_rows x D.
template <int D>
struct OwnSums {
  float c[D / 8][4];

  KOKKOS_INLINE_FUNCTION OwnSums() {
    unroll<D / 8>([&](const int n) { unroll<4>([&](const int e) { c[n][e] = 0.0F; }); });
  }

  /// Element e of every C times that of its row.
  KOKKOS_INLINE_FUNCTION void scale(float upper, float lower) {
    unroll<D / 8>([&](const int n) { unroll<4>([&](const int e) { c[n][e] *= e < 2 ? upper : lower; }); });
  }

  KOKKOS_INLINE_FUNCTION void store(int lane, int rows, const SliceRows<bfloat16>& to) const {
    const int g = lane / 4, t = lane % 4;
    for (int half = 0; half < 2; ++half) {
      if (g + 8 * half >= rows) continue;
      bfloat16* const row = to[g + 8 * half] + 2 * t;
      unroll<D / 8>([&](const int n) {
        *reinterpret_cast<std::uint32_t*>(row + 8 * n) =
            half == 0 ? pack_pair(c[n][0], c[n][1]) : pack_pair(c[n][2], c[n][3]);
      });
    }
  }
};

/// visited_rows x D of the other side, in the warp's part of shared memory.
template <int D>
struct VisitedRows {
  static constexpr int row = D + 8;  // rows begin in different banks
  static constexpr int size = visited_rows * row;
  bfloat16* data;

  /// Zeros behind `rows`.
  KOKKOS_INLINE_FUNCTION void load(int lane, const SliceRows<const bfloat16>& from, int rows) const {
    struct alignas(16) Chunk {
      std::uint32_t words[4];
    };
    constexpr int across = D / 8;
    unroll<visited_rows * across / warp_lanes>([&](const int n) {
      const int chunk = n * warp_lanes + lane, i = chunk / across, d = chunk % across * 8;
      *reinterpret_cast<Chunk*>(data + i * row + d) =
          i < rows ? *reinterpret_cast<const Chunk*>(from[i] + d) : Chunk{};
    });
  }

  /// Products of the own rows with these.
  template <class Warp>
  KOKKOS_INLINE_FUNCTION PairProducts multiply(const Warp& warp, const OwnRows<D>& own) const {
    PairProducts results;
    unroll<pieces>([&](const int n) { unroll<4>([&](const int e) { results.c[n][e] = 0.0F; }); });
    const bfloat16* const from = data + warp.lane / 4 * row + warp.lane % 4 * 2;
    unroll<D / 16>([&](const int k) {
      unroll<pieces>([&](const int n) {
        const bfloat16* const at = from + 8 * n * row + 16 * k;
        warp.multiply(own.a[k], word_at(at), word_at(at + 8), results.c[n]);
      });
    });
    return results;
  }

  /// sums += weights (own_rows, visited_rows) times these rows.
  template <class Warp>
  KOKKOS_INLINE_FUNCTION void add_weighted(const Warp& warp, const PairProducts& weights,
                                           OwnSums<D>& sums) const {
    unroll<visited_rows / 16>([&](const int k) {
      const float(&left)[4] = weights.c[2 * k];
      const float(&right)[4] = weights.c[2 * k + 1];
      const std::uint32_t a[4] = {pack_pair(left[0], left[1]), pack_pair(left[2], left[3]),
                                  pack_pair(right[0], right[1]), pack_pair(right[2], right[3])};
      unroll<D / 16>([&](const int n) {
        std::uint32_t b[4];
        warp.load_columns(data + 16 * k * row + 16 * n, row, b);
        warp.multiply(a, b[0], b[1], sums.c[2 * n]);
        warp.multiply(a, b[2], b[3], sums.c[2 * n + 1]);
      });
    });
  }
};

/// What a score needs beside the product, in 32 bits: positions and keys are counted within a sequence.
struct ScoreTerms {
  float scale, slope;
  const float* bias;
  int query_end, keys, window;
  bool causal, alibi, drop;

  KOKKOS_INLINE_FUNCTION ScoreTerms(const AttentionProblem& p, const AttentionSequence& of, std::int64_t head)
      : scale(static_cast<float>(p.scale)),
        slope(static_cast<float>(alibi_slope(p, head))),
        bias(bias_of<float>(p, head)),
        query_end(static_cast<int>(of.position + of.queries)),
        keys(static_cast<int>(of.keys)),
        window(p.window > 0 && p.window < 0x40000000 ? static_cast<int>(p.window) : 0x40000000),
        causal(p.causal),
        alibi(p.alibi),
        drop(p.drop) {}

  KOKKOS_FORCEINLINE_FUNCTION bool seen(int position, int key) const {
    return key < keys && position < query_end && !(causal && key > position) && key - position <= window &&
           position - key <= window;
  }
  KOKKOS_FORCEINLINE_FUNCTION float score(float product, int position, int key) const {
    float score = product * scale;
    if (alibi) score -= slope * static_cast<float>(key < position ? position - key : key - position);
    return bias == nullptr ? score : score + bias[key - position];
  }
};

/// The tile of a warp.
struct WarpPlace {
  AttentionSequence of;
  std::int64_t head, column;
  std::int64_t first;  // its first row, counted from the sequence's first
  int rows;

  /// `tiles`: of the longest sequence; `rows` is at most 0 where this one has no such tile.
  KOKKOS_INLINE_FUNCTION WarpPlace(const AttentionProblem& p, std::int64_t tiles, std::int64_t number,
                                   bool of_keys)
      : of(sequence_of(p, number / tiles / p.heads)),
        head(number / tiles % p.heads),
        column(head * p.head_size),
        first(number % tiles * own_rows) {
    const std::int64_t left = (of_keys ? of.keys : of.queries) - first;
    rows = left < own_rows ? static_cast<int>(left) : own_rows;
  }
};

/// visit(j0, columns) for the tiles of `begin` to `end`, which begin at multiples of visited_rows.
template <class Visit>
KOKKOS_FORCEINLINE_FUNCTION void each_tile(std::int64_t begin, std::int64_t end, const Visit& visit) {
  for (std::int64_t j0 = begin / visited_rows * visited_rows; j0 < end; j0 += visited_rows)
    visit(j0, end - j0 < visited_rows ? static_cast<int>(end - j0) : visited_rows);
}

/// Forward: a warp owns queries.
template <int D>
struct WarpAttention {
  static constexpr int head_size = D, memory = 2 * VisitedRows<D>::size;  // elements for each warp
  AttentionProblem p;
  SliceRows<const bfloat16> q, k, v;
  bfloat16* out;
  float* log_sum;
  std::int64_t tiles;  // of the queries of the longest sequence

  template <class Warp>
  KOKKOS_INLINE_FUNCTION void run(const Warp& warp, std::int64_t number, bfloat16* shared) const {
    constexpr float lowest = -Kokkos::Experimental::infinity<float>::value;
    const WarpPlace place(p, tiles, number, false);
    if (place.rows <= 0) return;
    const AttentionSequence& of = place.of;
    const std::int64_t row = of.first_query + place.first, position = of.position + place.first;
    const ScoreTerms terms(p, of, place.head);
    const OwnRows<D> queries(warp.lane, q.from(row, place.column), place.rows);
    const VisitedRows<D> keys{shared}, values{shared + VisitedRows<D>::size};
    OwnSums<D> sums;
    const int g = warp.lane / 4, t = warp.lane % 4;
    float largest[2] = {lowest, lowest},
          sum[2] = {0.0F, 0.0F};  // of rows g and g + 8; sums of this lane alone
    const auto visit = [&](const std::int64_t j0, const int columns) {
      warp.wait();
      keys.load(warp.lane, k.from(of.first_key + j0, place.column), columns);
      values.load(warp.lane, v.from(of.first_key + j0, place.column), columns);
      warp.wait();
      PairProducts scores = keys.multiply(warp, queries);
      float top[2] = {largest[0], largest[1]};
      unroll<pieces>([&](const int n) {
        unroll<4>([&](const int e) {
          const int query = static_cast<int>(position) + g + e / 2 * 8;
          const int key = static_cast<int>(j0) + 8 * n + 2 * t + e % 2;
          float& score = scores.c[n][e];
          score = terms.seen(query, key) ? terms.score(score, query, key) : lowest;
          if (score > top[e / 2]) top[e / 2] = score;
        });
      });
      float factor[2];
      for (int half = 0; half < 2; ++half) {
        for (int bits = 1; bits <= 2; bits *= 2) {
          const float other = warp.from_neighbour(top[half], bits);
          if (other > top[half]) top[half] = other;
        }
        factor[half] = largest[half] == lowest ? 0.0F : math::exp(largest[half] - top[half]);
        largest[half] = top[half];
        sum[half] *= factor[half];
      }
      unroll<pieces>([&](const int n) {
        unroll<4>([&](const int e) {
          float& weight = scores.c[n][e];
          weight = weight == lowest ? 0.0F : math::exp(weight - largest[e / 2]);
          sum[e / 2] += weight;
          if (terms.drop && weight != 0.0F)
            weight *= dropout_factor<float>(p, of, place.head, position + g + e / 2 * 8,
                                            j0 + 8 * n + 2 * t + e % 2);
        });
      });
      sums.scale(factor[0], factor[1]);
      values.add_weighted(warp, scores, sums);
    };
    each_tile(keys_of(p, position, of.keys).begin, keys_of(p, position + place.rows - 1, of.keys).end, visit);
    for (int half = 0; half < 2; ++half) {
      for (int bits = 1; bits <= 2; bits *= 2) sum[half] += warp.from_neighbour(sum[half], bits);
      if (t == 0 && g + 8 * half < place.rows)
        log_sum[(row + g + 8 * half) * p.heads + place.head] = largest[half] + math::log(sum[half]);
    }
    sums.scale(sum[0] == 0.0F ? 0.0F : 1.0F / sum[0], sum[1] == 0.0F ? 0.0F : 1.0F / sum[1]);
    sums.store(warp.lane, place.rows, SliceRows<bfloat16>{out, p.width}.from(row, place.column));
  }
};

/// The weight of a pair with dropout, and scale dS.
struct WarpPairGradient {
  float kept, ds;
};
KOKKOS_FORCEINLINE_FUNCTION WarpPairGradient pair_gradient(const AttentionProblem& p, const WarpPlace& place,
                                                           const ScoreTerms& terms, float product,
                                                           float dproduct, int position, int key,
                                                           float log_sum, float delta) {
  if (!terms.seen(position, key)) return {0.0F, 0.0F};
  const float weight = math::exp(terms.score(product, position, key) - log_sum);
  const float dropped = terms.drop ? dropout_factor<float>(p, place.of, place.head, position, key) : 1.0F;
  return {weight * dropped, terms.scale * weight * (dproduct * dropped - delta)};
}

/// dQ, and delta (N2, H) = sum over the head of dout * out: a warp owns queries.
template <int D>
struct WarpQueryGradient {
  static constexpr int head_size = D, memory = 2 * VisitedRows<D>::size;
  AttentionProblem p;
  SliceRows<const bfloat16> q, k, v;
  const bfloat16* out;
  const float* log_sum;
  const bfloat16* dout;
  SliceRows<bfloat16> dq;
  float* delta;
  std::int64_t tiles;

  template <class Warp>
  KOKKOS_INLINE_FUNCTION void run(const Warp& warp, std::int64_t number, bfloat16* shared) const {
    const WarpPlace place(p, tiles, number, false);
    if (place.rows <= 0) return;
    const AttentionSequence& of = place.of;
    const std::int64_t row = of.first_query + place.first, position = of.position + place.first;
    const ScoreTerms terms(p, of, place.head);
    const int g = warp.lane / 4, t = warp.lane % 4;
    const OwnRows<D> queries(warp.lane, q.from(row, place.column), place.rows);
    const OwnRows<D> dy(warp.lane, SliceRows<const bfloat16>{dout, p.width}.from(row, place.column),
                        place.rows);
    float deltas[2] = {0.0F, 0.0F}, log_sums[2] = {0.0F, 0.0F};
    {
      const OwnRows<D> y(warp.lane, SliceRows<const bfloat16>{out, p.width}.from(row, place.column),
                         place.rows);
      unroll<D / 16>([&](const int n) {
        unroll<4>([&](const int e) {
          deltas[e % 2] += low_of(dy.a[n][e]) * low_of(y.a[n][e]) + high_of(dy.a[n][e]) * high_of(y.a[n][e]);
        });
      });
    }
    for (int half = 0; half < 2; ++half) {
      for (int bits = 1; bits <= 2; bits *= 2) deltas[half] += warp.from_neighbour(deltas[half], bits);
      if (g + 8 * half >= place.rows) continue;
      const std::int64_t at = (row + g + 8 * half) * p.heads + place.head;
      log_sums[half] = log_sum[at];
      if (t == 0) delta[at] = deltas[half];
    }
    const VisitedRows<D> keys{shared}, values{shared + VisitedRows<D>::size};
    OwnSums<D> sums;
    const auto visit = [&](const std::int64_t j0, const int columns) {
      warp.wait();
      keys.load(warp.lane, k.from(of.first_key + j0, place.column), columns);
      values.load(warp.lane, v.from(of.first_key + j0, place.column), columns);
      warp.wait();
      PairProducts gradients = keys.multiply(warp, queries);
      const PairProducts of_weights = values.multiply(warp, dy);
      unroll<pieces>([&](const int n) {
        unroll<4>([&](const int e) {
          gradients.c[n][e] =
              pair_gradient(p, place, terms, gradients.c[n][e], of_weights.c[n][e],
                            static_cast<int>(position) + g + e / 2 * 8,
                            static_cast<int>(j0) + 8 * n + 2 * t + e % 2, log_sums[e / 2], deltas[e / 2])
                  .ds;
        });
      });
      keys.add_weighted(warp, gradients, sums);
    };
    each_tile(keys_of(p, position, of.keys).begin, keys_of(p, position + place.rows - 1, of.keys).end, visit);
    sums.store(warp.lane, place.rows, dq.from(row, place.column));
  }
};

/// dK and dV: a warp owns keys. After WarpQueryGradient.
template <int D>
struct WarpKeyGradient {
  static constexpr int head_size = D, memory = 2 * VisitedRows<D>::size;
  AttentionProblem p;
  SliceRows<const bfloat16> q, k, v;
  const float* log_sum;
  const bfloat16* dout;
  const float* delta;
  SliceRows<bfloat16> dk, dv;
  std::int64_t tiles;  // of the keys of the longest sequence

  template <class Warp>
  KOKKOS_INLINE_FUNCTION void run(const Warp& warp, std::int64_t number, bfloat16* shared) const {
    const WarpPlace place(p, tiles, number, true);
    if (place.rows <= 0) return;
    const AttentionSequence& of = place.of;
    const std::int64_t row = of.first_key + place.first;
    const ScoreTerms terms(p, of, place.head);
    const int g = warp.lane / 4, t = warp.lane % 4;
    const OwnRows<D> keys(warp.lane, k.from(row, place.column), place.rows);
    const OwnRows<D> values(warp.lane, v.from(row, place.column), place.rows);
    const VisitedRows<D> queries{shared}, dy{shared + VisitedRows<D>::size};
    OwnSums<D> key_sums, value_sums;
    const auto visit = [&](const std::int64_t i0, const int columns) {
      const std::int64_t first = of.first_query + i0;
      warp.wait();
      queries.load(warp.lane, q.from(first, place.column), columns);
      dy.load(warp.lane, SliceRows<const bfloat16>{dout, p.width}.from(first, place.column), columns);
      warp.wait();
      PairProducts gradients = queries.multiply(warp, keys);
      PairProducts weights = dy.multiply(warp, values);
      unroll<pieces>([&](const int n) {
        unroll<2>([&](const int column) {
          const int i = 8 * n + 2 * t + column;
          const bool there = i < columns;
          const std::int64_t at = (first + i) * p.heads + place.head;
          const float of_query = there ? log_sum[at] : 0.0F, delta_of_query = there ? delta[at] : 0.0F;
          unroll<2>([&](const int half) {
            const int e = 2 * half + column, key = static_cast<int>(place.first) + g + 8 * half;
            WarpPairGradient of_pair{0.0F, 0.0F};
            if (there)
              of_pair = pair_gradient(p, place, terms, gradients.c[n][e], weights.c[n][e],
                                      static_cast<int>(of.position + i0) + i, key, of_query, delta_of_query);
            gradients.c[n][e] = of_pair.ds;
            weights.c[n][e] = of_pair.kept;
          });
        });
      });
      queries.add_weighted(warp, gradients, key_sums);
      dy.add_weighted(warp, weights, value_sums);
    };
    const KeyRange seeing = queries_seeing(p, of, place.first, place.rows);
    each_tile(seeing.begin, seeing.end, visit);
    key_sums.store(warp.lane, place.rows, dk.from(row, place.column));
    value_sums.store(warp.lane, place.rows, dv.from(row, place.column));
  }
};

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
