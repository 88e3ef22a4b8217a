// SPDX-License-Identifier: BSD-3-Clause
// Divides a file among the parts of an application, and computes what its size can promise.
// app_from_file.cpp calls it; docs/guides/support.md has the numbers as a table. The constants below are
// those of `decide`: change them together. Read app_shares.hpp first.
#include "app/app_shares.hpp"

#include <algorithm>
#include <cmath>

#include <encore/binomial.hpp>

namespace encore::app {

namespace {

constexpr double confidence = 0.95;           // decide.confidence
constexpr double bound_part = 2.0 / 3.0;      // decide/fitting.hpp: a third calibrates
constexpr std::int64_t expected_errors = 10;  // among the answers
constexpr double expected_automation = 0.8;   // share of the requests that are answered
constexpr double smallest_share = 0.2, largest_share = 0.4, step = 0.05;
constexpr double checkpoint_part = 0.1;  // of the model's share

}  // namespace

std::int64_t comfortable_size(double error) {
  const auto answers = static_cast<double>(binomial::fewest_trials(expected_errors, error, confidence));
  return static_cast<std::int64_t>(std::ceil(answers / expected_automation / (fitted_share * bound_part)));
}

AppShares shares_for(std::int64_t records, double error, bool has_test_file) {
  const double needed = static_cast<double>(comfortable_size(error)) / static_cast<double>(records);
  const double rounded = step * std::ceil(needed / step);
  AppShares shares{.fit = std::clamp(rounded, smallest_share, largest_share),
                   .test = has_test_file ? 0.0 : smallest_share};
  const double model = 1.0 - shares.fit - shares.test;
  shares.checkpoint = checkpoint_part * model;
  shares.train = model - shares.checkpoint;
  return shares;
}

PromiseSize promise_size(std::int64_t records, double error) {
  const auto bound = static_cast<std::int64_t>(static_cast<double>(records) * fitted_share * bound_part);
  return {.records = records,
          .bound = bound,
          .most_errors = binomial::most_hits(bound, error, confidence),
          .least_bound = binomial::fewest_trials(0, error, confidence)};
}

}  // namespace encore::app
