// SPDX-License-Identifier: BSD-3-Clause
// Implements the two measures of shift_measures.hpp, the population stability index and the divergence of
// Jensen and Shannon, over groups of histogram bins. monitoring.cpp calls it. The grouping (a tenth of the
// reference each) decides the values that users compare. Read shift_measures.hpp first.
#include "monitor/shift_measures.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>

namespace encore::monitor {
namespace {

constexpr std::int64_t least_share = 10;  ///< a group has at least 1 / 10 of the reference
constexpr double added = 0.5;             ///< observations added to each group

std::int64_t total(const std::vector<std::int64_t>& counts) {
  return std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
}

/// Computes p log2(p / m).
double information(double p, double m) {
  return p * std::log2(p / m);
}

}  // namespace

std::vector<std::size_t> grouped_bins(const std::vector<std::int64_t>& reference) {
  std::vector<std::size_t> groups = {0};
  const std::int64_t all = total(reference);
  std::int64_t group = 0, left = all;
  for (std::size_t bin = 0; bin < reference.size(); ++bin) {
    group += reference[bin];
    left -= reference[bin];
    if (group * least_share < all || left * least_share < all) continue;
    groups.push_back(bin + 1);
    group = 0;
  }
  return groups;
}

std::vector<std::int64_t> sums_of(const std::vector<std::int64_t>& bins,
                                  const std::vector<std::size_t>& groups) {
  std::vector<std::int64_t> sums(groups.size());
  std::size_t group = 0;
  for (std::size_t bin = 0; bin < bins.size(); ++bin) {
    while (group + 1 < groups.size() && groups[group + 1] <= bin) ++group;
    sums[group] += bins[bin];
  }
  return sums;
}

ShiftMeasures shift_between(const std::vector<std::int64_t>& reference,
                            const std::vector<std::int64_t>& live) {
  const std::size_t count = std::max(reference.size(), live.size());
  const auto at = [](const std::vector<std::int64_t>& counts, std::size_t i) {
    return (i < counts.size() ? static_cast<double>(counts[i]) : 0.0) + added;
  };
  if (total(reference) == 0 || total(live) == 0) return {};
  const double extra = added * static_cast<double>(count);
  const double all_reference = static_cast<double>(total(reference)) + extra,
               all_live = static_cast<double>(total(live)) + extra;
  ShiftMeasures measures;
  for (std::size_t i = 0; i < count; ++i) {
    const double p = at(reference, i) / all_reference, q = at(live, i) / all_live, m = (p + q) / 2.0;
    measures.psi += (q - p) * std::log(q / p);
    measures.js += (information(p, m) + information(q, m)) / 2.0;
  }
  return measures;
}

}  // namespace encore::monitor
