// SPDX-License-Identifier: BSD-3-Clause
// ShiftTest decides whether inputs that come one after the other have the distribution of the reference, by a
// test that may be read after each of them. Place in the flow: monitoring.cpp adds the inputs that a served
// model has answered -> here -> `exp monitor` alarms. The probability of a false alarm is at most alpha.
//
// Each number of an input becomes a conformal p-value against the reference and all earlier inputs; these are
// independent and uniform as long as nothing has changed (Vovk, Gammerman and Shafer, Algorithmic Learning in
// a Random World). A gambler bets against that, and the capital of a fair game exceeds 1/alpha at any time
// with a probability of at most alpha (Ville 1939). The bets are those of the Simple Jumper (Vovk, Petej,
// Nouretdinov, Ahlberg, Carlsson, Gammerman: Retrain or not retrain, COPA 2021), with slopes up to 2.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "record/text_reference.hpp"

namespace encore::monitor {

/// The capital of a gambler who bets that p-values are not uniform, with straight lines as densities. It
/// moves between the lines all the time, so that it finds a good one again after a change.
class JumpingBets {
 public:
  /// `jumps` is the share of the capital that is redistributed before each bet.
  explicit JumpingBets(double jumps) : jumps_(jumps) { capitals_.fill(1.0 / slopes.size()); }
  void bet(double p);
  /// Returns the natural logarithm of the capital, which was 1 at first.
  double log_capital() const;

 private:
  static constexpr std::array<double, 5> slopes = {-2.0, -1.0, 0.0, 1.0, 2.0};

  double jumps_;
  std::array<double, slopes.size()> capitals_;
  double log_scale_ = 0.0;  ///< the true capitals are capitals_ times e to this
};

/// The bets on one number of the inputs, as a stream of bins: compares each with the reference and earlier
/// inputs.
class StreamTest {
 public:
  explicit StreamTest(std::vector<std::int64_t> reference);
  /// Adds an input's bin. `tie` in [0, 1) is its place among inputs with an equal bin.
  void add(std::size_t bin, double tie);
  /// Returns the logarithm of the mean capital of two bets: on large or small numbers, and on numbers at the
  /// edges or in the middle.
  double log_capital() const;

 private:
  std::vector<std::int64_t> counts_;
  std::int64_t all_ = 0;
  std::vector<JumpingBets> sides_, edges_;
};

/// Returns log of the mean of e^x; -infinity if there are no values.
double log_mean_exp(const std::vector<double>& values);

/// Tests all streams. Each measure has an equal part of the starting capital, each label an equal part of
/// that of the labels: a mean of fair games is a fair game.
class ShiftTest {
 public:
  /// `alpha` is the largest probability that it ever alarms if nothing has changed.
  ShiftTest(const record::TextHistograms& reference, double alpha);
  /// Adds the facts of an input. The ties are drawn from a hash of `name`.
  void add(const record::TextFacts& facts, std::string_view name);

  std::int64_t texts() const { return texts_; }
  double log_capital() const;
  /// Returns the largest log capital so far. alarm() is the number of inputs after which the test alarmed, or
  /// empty.
  double log_peak() const { return log_peak_; }
  const std::optional<std::int64_t>& alarm() const { return alarm_; }
  /// Returns the capitals by measure; the labels are one of them ("labels").
  std::map<std::string, double> log_capitals() const;
  const std::map<std::string, double>& log_peaks() const { return log_peaks_; }

 private:
  const record::TextHistograms& reference_;
  double limit_;  ///< log(1 / alpha)
  std::map<std::string, StreamTest> streams_;
  std::int64_t texts_ = 0;
  double log_peak_ = 0.0;
  std::map<std::string, double> log_peaks_;
  std::optional<std::int64_t> alarm_;
};

/// The name of all labels in log_capitals().
inline constexpr const char* labels_measure = "labels";

}  // namespace encore::monitor
