// SPDX-License-Identifier: BSD-3-Clause
// Implements ShiftTest: the bets on each number of an input, and the capitals, kept within the range of
// double. monitoring.cpp adds one input after the other. The probability of a false alarm holds only if a bet
// uses earlier inputs alone. Read shift_test.hpp first, which has the sources of the method.
#include "monitor/shift_test.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "record/text_hash.hpp"

namespace encore::monitor {
namespace {

/// The shares of the capital that are redistributed before a bet: small ones suit rare changes, large ones
/// frequent changes.
constexpr std::array<double, 3> jump_rates = {0.001, 0.01, 0.1};

std::vector<JumpingBets> bets() {
  return {JumpingBets(jump_rates[0]), JumpingBets(jump_rates[1]), JumpingBets(jump_rates[2])};
}

/// Returns the mean capital of all measures, as a logarithm; 0 if there are none.
double mean_of(const std::map<std::string, double>& log_capitals) {
  std::vector<double> all;
  for (const auto& [measure, capital] : log_capitals) all.push_back(capital);
  return all.empty() ? 0.0 : log_mean_exp(all);
}

}  // namespace

void JumpingBets::bet(double p) {
  const double all = std::accumulate(capitals_.begin(), capitals_.end(), 0.0);
  for (std::size_t i = 0; i < capitals_.size(); ++i) {
    const double kept = (1.0 - jumps_) * capitals_[i] + jumps_ * all / slopes.size();
    capitals_[i] = kept * (1.0 + slopes[i] * (p - 0.5));
  }
  // Nothing to do as long as the capital is far from the limits of double.
  if (all > 0x1p-100 && all < 0x1p100) return;
  for (double& capital : capitals_) capital /= all;
  log_scale_ += std::log(all);
}

double JumpingBets::log_capital() const {
  return log_scale_ + std::log(std::accumulate(capitals_.begin(), capitals_.end(), 0.0));
}

double log_mean_exp(const std::vector<double>& values) {
  if (values.empty()) return -std::numeric_limits<double>::infinity();
  const double most = *std::ranges::max_element(values);
  if (!std::isfinite(most)) return most;
  double sum = 0.0;
  for (const double value : values) sum += std::exp(value - most);
  return most + std::log(sum / static_cast<double>(values.size()));
}

StreamTest::StreamTest(std::vector<std::int64_t> reference)
    : counts_(std::move(reference)),
      all_(std::accumulate(counts_.begin(), counts_.end(), std::int64_t{0})),
      sides_(bets()),
      edges_(bets()) {}

void StreamTest::add(std::size_t bin, double tie) {
  if (counts_.size() <= bin) counts_.resize(bin + 1);
  const std::int64_t equal = ++counts_[bin];
  ++all_;
  const std::int64_t greater =
      std::accumulate(counts_.begin() + static_cast<std::ptrdiff_t>(bin) + 1, counts_.end(), std::int64_t{0});
  const double p =
      (static_cast<double>(greater) + tie * static_cast<double>(equal)) / static_cast<double>(all_);
  for (JumpingBets& each : sides_) each.bet(p);
  for (JumpingBets& each : edges_) each.bet(std::abs(2.0 * p - 1.0));
}

double StreamTest::log_capital() const {
  std::vector<double> all;
  for (const JumpingBets& each : sides_) all.push_back(each.log_capital());
  for (const JumpingBets& each : edges_) all.push_back(each.log_capital());
  return log_mean_exp(all);
}

ShiftTest::ShiftTest(const record::TextHistograms& reference, double alpha)
    : reference_(reference), limit_(-std::log(alpha)) {
  for (const auto& [name, stream] : reference.streams)
    if (stream.count() > 0) streams_.emplace(name, StreamTest(stream.bins));
}

void ShiftTest::add(const record::TextFacts& facts, std::string_view name) {
  for (const record::StreamValue& value : reference_.values_of(facts))
    if (const auto stream = streams_.find(value.stream); stream != streams_.end())
      stream->second.add(value.bin, record::share_of(std::string(name) + "/" + value.stream));
  ++texts_;
  const std::map<std::string, double> capitals = log_capitals();
  for (const auto& [measure, capital] : capitals)
    log_peaks_[measure] = std::max(log_peaks_[measure], capital);
  log_peak_ = std::max(log_peak_, mean_of(capitals));
  if (!alarm_ && log_peak_ >= limit_) alarm_ = texts_;
}

std::map<std::string, double> ShiftTest::log_capitals() const {
  std::map<std::string, double> capitals;
  std::vector<double> labels;
  for (const auto& [name, stream] : streams_)
    if (name.starts_with(record::label_stream))
      labels.push_back(stream.log_capital());
    else
      capitals[name] = stream.log_capital();
  if (!labels.empty()) capitals[labels_measure] = log_mean_exp(labels);
  return capitals;
}

double ShiftTest::log_capital() const {
  return mean_of(log_capitals());
}

}  // namespace encore::monitor
