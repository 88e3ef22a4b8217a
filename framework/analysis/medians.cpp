// SPDX-License-Identifier: BSD-3-Clause
// Medians of timings and their ratios with intervals: for a median from the binomial distribution of its
// rank, for a ratio from rounds drawn again at random. bench_summary.cpp and bench_comparison.cpp call it.
// Random draws have a fixed seed, so equal samples give equal intervals. Read medians.hpp first.
#include "analysis/medians.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <encore/error.hpp>

namespace encore::analysis {
namespace {

/// Returns the probability that fewer than k of n fair coins show heads.
double below(std::size_t k, std::size_t n) {
  double term = std::pow(0.5, static_cast<double>(n)), sum = 0.0;
  for (std::size_t i = 0; i < k; ++i) {
    sum += term;
    term *= static_cast<double>(n - i) / static_cast<double>(i + 1);
  }
  return sum;
}

/// Sorts numbers with NaN last. NaN comes from quotients of two samples of 0 seconds, and `<` alone does not
/// order it.
void sort(std::vector<double>& values) {
  std::sort(values.begin(), values.end(),
            [](double a, double b) { return a < b || (std::isnan(b) && !std::isnan(a)); });
}

double median_of_sorted(std::span<const double> sorted) {
  const std::size_t middle = sorted.size() / 2;
  return sorted.size() % 2 == 1 ? sorted[middle] : 0.5 * (sorted[middle - 1] + sorted[middle]);
}

/// Draws with replacement as many values as there are and returns their median. `number` counts the words
/// taken from the random stream.
double redrawn_median(std::span<const double> values, std::uint64_t seed, std::uint64_t& number,
                      std::vector<double>& drawn) {
  drawn.clear();
  for (std::size_t i = 0; i < values.size(); ++i)
    drawn.push_back(values[((random_word(seed, number++) >> 32U) * values.size()) >> 32U]);
  sort(drawn);
  return median_of_sorted(drawn);
}

}  // namespace

double median_of(std::span<const double> values) {
  if (values.empty()) return std::numeric_limits<double>::quiet_NaN();
  std::vector<double> sorted(values.begin(), values.end());
  sort(sorted);
  return median_of_sorted(sorted);
}

Measured measured(std::span<const double> values, double level) {
  if (values.empty()) return {median_of(values), {}, 0, 0.0};
  std::vector<double> sorted(values.begin(), values.end());
  sort(sorted);
  const std::size_t n = sorted.size();
  std::size_t k = 1;  // the k-th from either end
  while (2 * (k + 1) <= n && 1.0 - 2.0 * below(k + 1, n) >= level) ++k;
  return {median_of_sorted(sorted), {sorted[k - 1], sorted[n - k]}, n, 1.0 - 2.0 * below(k, n)};
}

std::optional<Ratio> ratio_of_medians(std::span<const double> a, std::span<const double> b, double level,
                                      std::size_t resamples, std::uint64_t seed) {
  if (a.size() < 2 || b.size() < 2) return std::nullopt;
  std::vector<double> ratios(resamples), drawn;
  std::uint64_t number = 0;
  for (double& ratio : ratios) {
    const double top = redrawn_median(a, seed, number, drawn);
    ratio = top / redrawn_median(b, seed, number, drawn);
  }
  sort(ratios);
  const auto at = [&](double share) {
    return ratios[static_cast<std::size_t>(std::llround(share * static_cast<double>(resamples - 1)))];
  };
  return Ratio{median_of(a) / median_of(b), {at((1.0 - level) / 2.0), at((1.0 + level) / 2.0)}};
}

std::vector<double> quotients(std::span<const double> a, std::span<const double> b) {
  ENCORE_REQUIRE(a.size() == b.size(), "a quotient for each pair of samples");
  std::vector<double> result;
  for (std::size_t i = 0; i < a.size(); ++i) result.push_back(a[i] / b[i]);
  return result;
}

}  // namespace encore::analysis
