// SPDX-License-Identifier: BSD-3-Clause
// Measures that follow from pairs instead of sums of columns: the area under the ROC curve, correlations,
// Cohen's kappa, and Matthews' coefficient. Equal pairs share a cell that counts them, so that a selection of
// examples is a vector of counts, as for the other reducers. Place in the flow: MeasureCells
// (measure_cells.hpp) owns one object of each class. Stored scores depend on the order of the operations, so
// it must not change.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace encore {

/// Collects pairs of numbers under keys: a score and the truth, or a prediction and the truth.
///   const std::uint32_t cell = pairs.cell(pairs.key("joy"), 0.7, 1.0);   // for each pair
///   pairs.arrange();
///   pairs.areas(counts);                                                // counts[cell], size() of them
class NumberPairs {
 public:
  std::uint32_t key(const std::string& name) {
    return keys_.emplace(name, static_cast<std::uint32_t>(keys_.size())).first->second;
  }
  /// Returns the cell that counts equal pairs, and makes it if it is new.
  std::uint32_t cell(std::uint32_t key, double first, double second);
  std::size_t size() const { return pairs_.size(); }
  /// Sorts the cells. Call it after the last cell() and before the functions below.
  void arrange();

  /// Returns the area under the ROC curve (trapezoidal rule) of each key with positives (`second` above 0)
  /// and negatives: the share of (positive, negative) in which the positive has the larger `first`; equal
  /// ones count half. Returns a single NaN if a counted number is NaN.
  std::vector<double> areas(std::span<const double> counts) const;
  /// Returns Pearson's r of all pairs of all keys; 0 if one side is constant.
  double correlation(std::span<const double> counts) const;
  /// Returns Cohen's kappa with quadratic weights: 1 - D / E, where D is the mean of (first - second)^2 and E
  /// the same over all combinations of a `first` with a `second` (Cohen 1968); 0 if E is 0.
  double quadratic_kappa(std::span<const double> counts) const;
  /// Returns Spearman's rho: Pearson's r of the ranks. Equal numbers share the mean of their ranks.
  double rank_correlation(std::span<const double> counts) const;

 private:
  struct Pair {
    std::uint32_t key = 0;
    double first = 0.0, second = 0.0;

    /// Compares bits, so that NaN has a cell too.
    friend bool operator==(const Pair& a, const Pair& b) {
      const auto bits = [](double value) { return std::bit_cast<std::uint64_t>(value); };
      return a.key == b.key && bits(a.first) == bits(b.first) && bits(a.second) == bits(b.second);
    }
  };
  struct Hash {
    std::size_t operator()(const Pair& pair) const;
  };
  bool is_nan(std::span<const double> counts) const;
  /// Returns the rank of each cell.
  std::vector<double> ranks(const std::vector<std::uint32_t>& order, double Pair::*number,
                            std::span<const double> counts) const;
  double correlation(std::span<const double> x, std::span<const double> y,
                     std::span<const double> counts) const;

  std::map<std::string, std::uint32_t> keys_;
  std::vector<Pair> pairs_;  ///< by cell
  std::unordered_map<Pair, std::uint32_t, Hash> cells_;
  std::vector<std::uint32_t> by_first_, by_second_;  ///< cells without a NaN, sorted by key and number
  std::vector<std::uint32_t> no_numbers_;            ///< cells with a NaN
};

/// Counts pairs of names: the true class and the predicted one.
class NamePairs {
 public:
  std::uint32_t cell(const std::string& truth, const std::string& predicted);
  std::size_t size() const { return pairs_.size(); }
  /// R_K = (c s - sum p_k t_k) / sqrt((s^2 - sum p_k^2) (s^2 - sum t_k^2)) with s pairs, c of them right, t_k
  /// of class k and p_k predicted as k (Gorodkin 2004); 0 if the root is 0.
  double matthews(std::span<const double> counts) const;

 private:
  std::uint32_t number(const std::string& name) {
    return names_.emplace(name, static_cast<std::uint32_t>(names_.size())).first->second;
  }
  std::map<std::string, std::uint32_t> names_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> cells_;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> pairs_;  ///< by cell
};

}  // namespace encore
