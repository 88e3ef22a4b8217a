// SPDX-License-Identifier: BSD-3-Clause
// ShiftTest decides whether inputs that come one after the other have the distribution of the reference, by a
// test that may be read after each of them. monitor() (monitoring.cpp) adds every input that a served model
// has answered and reads the result for `exp monitor`. The probability of a false alarm is at most alpha;
// that is proved only for these formulas, so a change needs a proof.
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

/// The capital of a gambler who bets that p-values are not uniform, with straight lines as densities. Before
/// each bet a share of the capital is divided equally among the lines, so that a good line is found again
/// after a change.
class JumpingBets {
 public:
  /// `jumps` is the share of the capital that is redistributed before each bet.
  explicit JumpingBets(double jumps) : jumps_(jumps) { capitals_.fill(1.0 / slopes.size()); }
  /// Bets on one p-value in [0, 1] and updates the capital.
  void bet(double p);
  /// Returns the natural logarithm of the capital, which was 1 at first.
  double log_capital() const;

 private:
  static constexpr std::array<double, 5> slopes = {-2.0, -1.0, 0.0, 1.0, 2.0};

  double jumps_;
  std::array<double, slopes.size()> capitals_;
  double log_scale_ = 0.0;  ///< natural logarithm; the true capitals are capitals_ times e to this
};

/// The bets on one number of the inputs, as a stream of bins: compares each with the reference and earlier
/// inputs.
class StreamTest {
 public:
  explicit StreamTest(std::vector<std::int64_t> reference);
  /// Adds the bin of one input. `tie` in [0, 1) is a random number that orders inputs with an equal bin.
  void add(std::size_t bin, double tie);
  /// Returns the natural logarithm of the mean capital of two kinds of bets: that numbers became larger or
  /// smaller, and that they moved to the edges or to the middle.
  double log_capital() const;

 private:
  std::vector<std::int64_t> counts_;
  std::int64_t all_ = 0;
  std::vector<JumpingBets> sides_, edges_;
};

/// Returns log of the mean of e^x; -infinity if there are no values.
double log_mean_exp(const std::vector<double>& values);

/// Tests all streams (numbers of an input, such as its length or the count of one label). Each measure starts
/// with an equal part of the capital, and each label with an equal part of that of the labels; a mean of fair
/// games is a fair game.
class ShiftTest {
 public:
  /// `alpha` is the largest probability of an alarm, ever, if nothing has changed. `reference` must outlive
  /// the test.
  ShiftTest(const record::TextHistograms& reference, double alpha);
  /// Adds the facts of one input. Ties are drawn from a hash of `name`, which must be unique, so that the
  /// same inputs always give the same result.
  void add(const record::TextFacts& facts, std::string_view name);

  std::int64_t texts() const { return texts_; }
  double log_capital() const;
  /// Returns the largest log capital so far. alarm() is the number of inputs after which the test alarmed, or
  /// empty.
  double log_peak() const { return log_peak_; }
  const std::optional<std::int64_t>& alarm() const { return alarm_; }
  /// Returns the log capitals by measure; all labels together are one measure ("labels").
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
