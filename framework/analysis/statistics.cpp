// SPDX-License-Identifier: BSD-3-Clause
// The formulas of statistics.hpp, with the source of each; comparison.cpp, candidates.cpp and others call
// them. Student's t and the noncentral t are those of Boost.Math. A change of a formula changes
// tests/unit/analysis/make_statistics.py too, which computes the expected values. Read statistics.hpp first.
#include "analysis/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>

#include <boost/math/distributions/non_central_t.hpp>
#include <boost/math/distributions/normal.hpp>
#include <boost/math/distributions/students_t.hpp>
#include <encore/error.hpp>

#include "analysis/in_double.hpp"

namespace encore::analysis {

namespace {

using Normal = boost::math::normal_distribution<double, InDouble>;
using StudentsT = boost::math::students_t_distribution<double, InDouble>;
using NonCentralT = boost::math::non_central_t_distribution<double, InDouble>;

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
constexpr std::size_t most_seeds = 1000000;

double square(double value) {
  return value * value;
}

double two_sided(double t, double freedom) {
  return 2.0 * boost::math::cdf(boost::math::complement(StudentsT(freedom), std::abs(t)));
}

/// Returns half the width of an interval, in standard errors: the two-sided critical value of Student's t.
double critical_t(double freedom, double alpha) {
  return boost::math::quantile(boost::math::complement(StudentsT(freedom), alpha / 2.0));
}

TTest t_test(double difference, double error, double freedom, double level) {
  const double half = critical_t(freedom, 1.0 - level) * error;
  const double t = difference / error;
  return {difference, {difference - half, difference + half}, t, freedom, two_sided(t, freedom)};
}

/// Returns the degrees of freedom from the squared standard errors of both means (Welch and Satterthwaite).
double welch_freedom(double error_a, double n_a, double error_b, double n_b) {
  return square(error_a + error_b) / (square(error_a) / (n_a - 1.0) + square(error_b) / (n_b - 1.0));
}

/// Returns a quantile of sorted values, linear between neighbours (type 7 of Hyndman and Fan, numpy's
/// default).
double quantile_of(const std::vector<double>& sorted, double share) {
  const double position = share * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(position);
  if (below + 1 >= sorted.size()) return sorted.back();
  return sorted[below] + (position - std::floor(position)) * (sorted[below + 1] - sorted[below]);
}

std::vector<double> resampled_means(std::span<const double> values, std::size_t resamples,
                                    std::uint64_t seed) {
  std::vector<double> means(resamples);
  const auto n = static_cast<std::uint64_t>(values.size());
  for (std::size_t resample = 0; resample < resamples; ++resample) {
    double sum = 0.0;
    for (std::uint64_t draw = 0; draw < n; ++draw) {
      // The upper half of the word, times n, shifted: uniform to one part in 2^32 / n.
      const std::uint64_t index = ((random_word(seed, resample * n + draw) >> 32U) * n) >> 32U;
      sum += values[static_cast<std::size_t>(index)];
    }
    means[resample] = sum / static_cast<double>(n);
  }
  std::sort(means.begin(), means.end());
  return means;
}

/// Returns the skewness of the mean's jackknife values divided by six: how fast its standard error changes
/// with the mean.
double acceleration_of(std::span<const double> values) {
  const double sum = std::accumulate(values.begin(), values.end(), 0.0);
  std::vector<double> left_out;
  for (const double value : values)
    left_out.push_back((sum - value) / static_cast<double>(values.size() - 1));
  const double center = mean_of(left_out);
  double squares = 0.0, cubes = 0.0;
  for (const double value : left_out) {
    squares += square(center - value);
    cubes += square(center - value) * (center - value);
  }
  return cubes / (6.0 * std::pow(squares, 1.5));
}

/// Returns the probability that a t statistic with this noncentrality passes the critical value on either
/// side.
double power_of(double noncentrality, double freedom, double alpha) {
  const double critical = critical_t(freedom, alpha);
  // For a large noncentrality the distribution is nearly normal around it, and Boost's series gets slow.
  if (noncentrality > critical + 40.0) return 1.0;
  const NonCentralT distribution(freedom, noncentrality);
  return boost::math::cdf(boost::math::complement(distribution, critical)) +
         boost::math::cdf(distribution, -critical);
}

/// Returns the smallest n >= 2 for which `reaches(n)` is true. It must stay true for all larger n.
std::optional<std::size_t> smallest(const std::function<bool(std::size_t)>& reaches) {
  std::size_t high = 2;
  while (!reaches(high)) {
    if (high >= most_seeds) return std::nullopt;
    high = std::min(high * 2, most_seeds);
  }
  std::size_t low = high / 2;  // too few, unless high is 2
  while (high > 2 && high - low > 1) {
    const std::size_t middle = low + (high - low) / 2;
    (reaches(middle) ? high : low) = middle;
  }
  return high;
}

/// Cuts the interval to the values that the metric can have.
std::optional<Interval> within_range(const Metric& metric, std::optional<Interval> interval) {
  if (interval && metric.is_fraction())
    interval = Interval{std::clamp(interval->low, 0.0, 1.0), std::clamp(interval->high, 0.0, 1.0)};
  return interval;
}

}  // namespace

std::uint64_t random_word(std::uint64_t seed, std::uint64_t number) {
  const auto mix = [](std::uint64_t bits) {
    bits += 0x9E3779B97F4A7C15U;
    bits = (bits ^ (bits >> 30U)) * 0xBF58476D1CE4E5B9U;
    bits = (bits ^ (bits >> 27U)) * 0x94D049BB133111EBU;
    return bits ^ (bits >> 31U);
  };
  return mix(mix(seed) + number);
}

double mean_of(std::span<const double> values) {
  if (values.empty()) return not_a_number;
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double deviation_of(std::span<const double> values) {
  if (values.size() < 2) return not_a_number;
  const double mean = mean_of(values);
  double squares = 0.0;
  for (const double value : values) squares += square(value - mean);
  return std::sqrt(squares / static_cast<double>(values.size() - 1));
}

bool has_spread(std::span<const double> values) {
  if (values.size() < 2) return false;
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  const double size = std::max(std::abs(*low), std::abs(*high));
  return *high - *low > 16.0 * std::numeric_limits<double>::epsilon() * size;
}

std::optional<Interval> t_interval(std::span<const double> values, double level) {
  if (!has_spread(values)) return std::nullopt;
  const auto n = static_cast<double>(values.size());
  const double mean = mean_of(values);
  const double half = critical_t(n - 1.0, 1.0 - level) * deviation_of(values) / std::sqrt(n);
  return Interval{mean - half, mean + half};
}

std::optional<Interval> mean_interval(const Metric& metric, std::span<const double> values, double level) {
  return within_range(metric, t_interval(values, level));
}

std::optional<Interval> prediction_interval(const Metric& metric, std::span<const double> values,
                                            double level) {
  const std::optional<Interval> of_mean = t_interval(values, level);
  if (!of_mean) return std::nullopt;
  const double mean = mean_of(values);
  const double half = (of_mean->high - mean) * std::sqrt(static_cast<double>(values.size()) + 1.0);
  return within_range(metric, Interval{mean - half, mean + half});
}

std::optional<Interval> bootstrap_interval(std::span<const double> values, double level,
                                           std::size_t resamples, std::uint64_t seed) {
  ENCORE_REQUIRE(resamples >= 2, "a bootstrap needs resamples");
  if (!has_spread(values)) return std::nullopt;
  const std::vector<double> means = resampled_means(values, resamples, seed);
  const double mean = mean_of(values);
  const auto below = std::lower_bound(means.begin(), means.end(), mean) - means.begin();
  const auto not_above = std::upper_bound(means.begin(), means.end(), mean) - means.begin();
  const double share = static_cast<double>(below + not_above) / (2.0 * static_cast<double>(resamples));
  // If all resamples lie on one side, which happens only with few of them, there is no bias to correct.
  const Normal normal;
  const double bias = share > 0.0 && share < 1.0 ? boost::math::quantile(normal, share) : 0.0;
  const double acceleration = acceleration_of(values);
  const auto end = [&](double probability) {
    const double z = bias + boost::math::quantile(normal, probability);
    const double moved = bias + z / (1.0 - acceleration * z);
    // `moved` is NaN if the values are so large that their moments are not finite. The plain percentile is
    // used then.
    return quantile_of(means, std::isnan(moved) ? probability : boost::math::cdf(normal, moved));
  };
  return Interval{end((1.0 - level) / 2.0), end((1.0 + level) / 2.0)};
}

std::optional<TTest> paired_t_test(std::span<const double> a, std::span<const double> b, double level) {
  ENCORE_REQUIRE(a.size() == b.size(), "a paired test has as many values on either side");
  std::vector<double> differences, sizes;
  for (std::size_t i = 0; i < a.size(); ++i) differences.push_back(a[i] - b[i]);
  // The rounding error of a difference is as large as that of its terms.
  double size = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) size = std::max({size, std::abs(a[i]), std::abs(b[i])});
  const auto [low, high] = std::minmax_element(differences.begin(), differences.end());
  if (a.size() < 2 || *high - *low <= 16.0 * std::numeric_limits<double>::epsilon() * size)
    return std::nullopt;
  const auto n = static_cast<double>(a.size());
  return t_test(mean_of(differences), deviation_of(differences) / std::sqrt(n), n - 1.0, level);
}

std::optional<TTest> welch_t_test(std::span<const double> a, std::span<const double> b, double level) {
  if (a.size() < 2 || b.size() < 2 || (!has_spread(a) && !has_spread(b))) return std::nullopt;
  const auto n_a = static_cast<double>(a.size()), n_b = static_cast<double>(b.size());
  const double error_a = square(deviation_of(a)) / n_a, error_b = square(deviation_of(b)) / n_b;
  return t_test(mean_of(a) - mean_of(b), std::sqrt(error_a + error_b),
                welch_freedom(error_a, n_a, error_b, n_b), level);
}

std::vector<double> holm(std::span<const double> p_values) {
  std::vector<std::size_t> order(p_values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t i, std::size_t j) { return p_values[i] < p_values[j]; });
  std::vector<double> corrected(p_values.size());
  double highest = 0.0;
  for (std::size_t rank = 0; rank < order.size(); ++rank) {
    highest = std::max(highest, p_values[order[rank]] * static_cast<double>(order.size() - rank));
    corrected[order[rank]] = std::min(highest, 1.0);
  }
  return corrected;
}

std::optional<std::size_t> seeds_for_paired(double deviation, double difference, double alpha, double power) {
  if (difference == 0.0 || !std::isfinite(difference) || !(deviation > 0.0)) return std::nullopt;
  return smallest([&](std::size_t n) {
    const auto count = static_cast<double>(n);
    return power_of(std::abs(difference) / deviation * std::sqrt(count), count - 1.0, alpha) >= power;
  });
}

std::optional<std::size_t> seeds_for_welch(double deviation_a, double deviation_b, double difference,
                                           double alpha, double power) {
  const double variance_a = square(deviation_a), variance_b = square(deviation_b);
  if (difference == 0.0 || !std::isfinite(difference) || !(variance_a + variance_b > 0.0))
    return std::nullopt;
  return smallest([&](std::size_t n) {
    const auto count = static_cast<double>(n);
    const double freedom = welch_freedom(variance_a, count, variance_b, count);
    return power_of(std::abs(difference) / std::sqrt((variance_a + variance_b) / count), freedom, alpha) >=
           power;
  });
}

}  // namespace encore::analysis
