// SPDX-License-Identifier: BSD-3-Clause
// The kernels distance_bias and its backward, for T5's attention (Raffel et al. 2020): one number per head
// for each bucket of distances between key and query. A bucket is a range of distances, found on the host;
// the ranges must stay those of T5, because pretrained tables have a row for each. Forward: bias (H, 2 M)
// from table (R, H), so that attention adds a contiguous row to its scores. Backward: dtable += the dbias (N,
// 2 H) of attention_backward, sequence by sequence; nothing is kept. plugins/layers/relative_attention.cpp
// calls both. Read next: attention_problem.hpp.
#include <algorithm>

#include <encore/math.hpp>
#include <encore/rows.hpp>
#include <encore/view.hpp>

#include "kernels/check.hpp"

namespace encore::kernels {
namespace {

constexpr std::int64_t most_buckets = 256;

/// Returns the buckets of one direction.
std::int64_t buckets_aside(const DistanceBuckets& buckets) {
  return buckets.causal ? buckets.count : buckets.count / 2;
}

/// Returns the bucket of a distance of at least 0.
std::int64_t bucket_aside(const DistanceBuckets& buckets, std::int64_t distance) {
  const std::int64_t count = buckets_aside(buckets), exact = count / 2;
  if (distance < exact) return distance;
  const auto log = [](double x) { return static_cast<float>(math::log(x)); };
  const auto single = static_cast<float>(exact);
  const float share = log(static_cast<float>(distance) / single) /
                      log(static_cast<double>(buckets.farthest) / static_cast<double>(exact));
  const float above = share * static_cast<float>(count - exact);
  return std::min(exact + static_cast<std::int64_t>(std::min(above, static_cast<float>(count))), count - 1);
}

void require_sound(const DistanceBuckets& buckets) {
  ENCORE_REQUIRE(buckets.count >= 4 && buckets.count <= most_buckets,
                 std::to_string(buckets.count) + " buckets of distances; 4 to 256 are possible");
  ENCORE_REQUIRE(buckets.farthest > buckets_aside(buckets) / 2,
                 "the farthest distance is " + std::to_string(buckets.farthest) + ", and buckets below " +
                     std::to_string(buckets_aside(buckets) / 2) + " hold one distance each");
}

/// Bucket k of a direction holds the distances [first[k], first[k + 1]).
struct Ranges {
  std::int64_t count;
  bool causal;
  std::int32_t first[most_buckets + 1];
};

/// Distances are below `end`.
Ranges ranges_of(const DistanceBuckets& buckets, std::int64_t end) {
  Ranges ranges{.count = buckets_aside(buckets), .causal = buckets.causal, .first = {}};
  for (std::int64_t k = 0; k <= ranges.count; ++k) {
    std::int64_t least = 0, most = end;  // buckets grow with the distance
    while (least < most) {
      const std::int64_t middle = (least + most) / 2;
      if (k < ranges.count && bucket_aside(buckets, middle) >= k)
        most = middle;
      else
        least = middle + 1;
    }
    ranges.first[k] = static_cast<std::int32_t>(least);
  }
  return ranges;
}

/// Sets bias[h][M + d] = table[bucket of d][h]; entries for distances that no query sees get the number of
/// the nearest distance.
template <class S>
void spread(const Device& device, const Ranges& ranges, std::int64_t heads, std::int64_t reach,
            const S* table, S* bias) {
  for_rows(
      device, "encore::distance_bias", heads, KOKKOS_LAMBDA(const Row& row) {
        S* center = bias + (2 * row.index + 1) * reach;
        for (std::int64_t k = 0; k < ranges.count; ++k) {
          const std::int64_t first = ranges.first[k], count = ranges.first[k + 1] - first;
          const S back = table[k * heads + row.index];
          row.each(count, [&](std::int64_t i) { center[-(first + i)] = back; });
          if (ranges.causal) continue;
          const S forward = table[(ranges.count + k) * heads + row.index];
          row.each(count, [&](std::int64_t i) {
            if (first + i > 0) center[first + i] = forward;
          });
        }
        row.barrier();
        row.once([&] { center[-reach] = center[1 - reach]; });
        if (ranges.causal) row.each(reach - 1, [&](std::int64_t i) { center[1 + i] = table[row.index]; });
      });
}

/// Each task of for_rows is a bucket and a head.
template <class S>
void gather(const Device& device, const Ranges& ranges, const RowSet& rows, std::int64_t heads,
            std::int64_t buckets, const S* dbias, S* dtable) {
  const auto* offsets = elements<std::int32_t>(rows.offsets);
  const std::int64_t sequences = rows.size.sequences;
  for_rows(
      device, "encore::distance_bias_backward", buckets * heads, KOKKOS_LAMBDA(const Row& row) {
        const std::int64_t bucket = row.index / heads, head = row.index % heads;
        if (ranges.causal ? bucket >= ranges.count : bucket >= 2 * ranges.count) return;
        const std::int64_t k = bucket % ranges.count, direction = bucket < ranges.count ? -1 : 1;
        const std::int64_t first = direction > 0 && k == 0 ? 1 : ranges.first[k];
        S total = S(0);
        for (std::int64_t b = 0; b < sequences; ++b) {
          const std::int64_t length = offsets[b + 1] - offsets[b];
          const std::int64_t end = ranges.first[k + 1] < length ? ranges.first[k + 1] : length;
          if (first >= end) continue;
          const S* center = dbias + 2 * (offsets[b] * heads + head * length) + length;
          total += row.sum<S>(end - first, [&](std::int64_t i) { return center[direction * (first + i)]; });
        }
        row.once([&] { dtable[row.index] += total; });
      });
}

}  // namespace

std::int64_t bucket_of(const DistanceBuckets& buckets, std::int64_t distance) {
  require_sound(buckets);
  if (distance <= 0) return bucket_aside(buckets, -distance);
  return buckets.causal ? 0 : buckets_aside(buckets) + bucket_aside(buckets, distance);
}

void distance_bias(const Device& device, const DistanceBuckets& buckets, Tensor table, Tensor bias) {
  require_sound(buckets);
  check_rank("bias", bias, 2);
  const std::int64_t heads = bias.extent(0), reach = bias.extent(1) / 2;
  ENCORE_REQUIRE(bias.extent(1) % 2 == 0 && reach >= 1,
                 "bias is " + describe(bias) + ", expected an even width");
  check("bias", bias, bias.dtype, {heads, 2 * reach});
  check("table", table, bias.dtype, {buckets.count, heads});
  const Ranges ranges = ranges_of(buckets, reach);
  if (bias.dtype == DType::float64)
    spread<double>(device, ranges, heads, reach, elements<double>(table), elements<double>(bias));
  else
    spread<float>(device, ranges, heads, reach, elements<float>(table), elements<float>(bias));
}

void distance_bias_backward(const Device& device, const RowSet& rows, const DistanceBuckets& buckets,
                            Tensor dbias, Tensor dtable) {
  require_sound(buckets);
  check_rank("dtable", dtable, 2);
  const std::int64_t heads = dtable.extent(1);
  check("dtable", dtable, dtable.dtype, {buckets.count, heads});
  check("dbias", dbias, dtable.dtype, {rows.size.tokens, 2 * heads});
  const Ranges ranges = ranges_of(buckets, std::max<std::int64_t>(rows.size.longest, 1));
  if (dtable.dtype == DType::float64)
    gather<double>(device, ranges, rows, heads, buckets.count, elements<double>(dbias),
                   elements<double>(dtable));
  else
    gather<float>(device, ranges, rows, heads, buckets.count, elements<float>(dbias),
                  elements<float>(dtable));
}

}  // namespace encore::kernels
