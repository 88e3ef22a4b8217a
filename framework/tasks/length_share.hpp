// The length that a share of a training set's sequences do not exceed, for `[data] max_length = "95%"`.
// Place in the flow: task_sets.cpp counts the lengths of sequences that nothing was cut from.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace encore {

/// Counts the sequences of each length.
class LengthCounts {
 public:
  void add(std::span<const std::int32_t> lengths);
  std::int64_t total() const { return total_; }
  std::int64_t longest() const { return static_cast<std::int64_t>(counts_.size()) - 1; }
  /// The smallest length that at least `percent` % of the sequences do not exceed, and no less than `least`.
  std::int64_t covering(double percent, std::int64_t least) const;

 private:
  std::vector<std::int64_t> counts_;  ///< by length
  std::int64_t total_ = 0;
};

/// "95%", as it is written in an experiment file.
std::string percent_text(double percent);

}  // namespace encore
