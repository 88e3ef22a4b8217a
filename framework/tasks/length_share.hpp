// SPDX-License-Identifier: BSD-3-Clause
// Computes the length that a share of the training sequences does not exceed, for `[data] max_length =
// "95%"`. task_sets.cpp encodes the training set without a limit, counts the lengths here, and then makes the
// task with the result. A resumed run must get the same length.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace encore::tasks {

/// Counts the sequences of each length.
class LengthCounts {
 public:
  void add(std::span<const std::int32_t> lengths);
  std::int64_t total() const { return total_; }
  std::int64_t longest() const { return static_cast<std::int64_t>(counts_.size()) - 1; }
  /// Returns the smallest length that at least `percent` % of the sequences do not exceed, but no less than
  /// `least`.
  std::int64_t covering(double percent, std::int64_t least) const;

 private:
  std::vector<std::int64_t> counts_;  ///< by length
  std::int64_t total_ = 0;
};

/// Returns the share as an experiment file writes it: "95%".
std::string percent_text(double percent);

}  // namespace encore::tasks
