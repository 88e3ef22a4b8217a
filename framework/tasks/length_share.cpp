// SPDX-License-Identifier: BSD-3-Clause
// LengthCounts: a histogram of sequence lengths with one bin for each length, and the length that covers a
// share of them, for task_sets.cpp. Experiment files give such a share (data.max_length = "95%"), so another
// rule for the length would change the runs of existing files. Read length_share.hpp first.
#include "tasks/length_share.hpp"

#include <algorithm>

#include "config/value.hpp"

namespace encore::tasks {

void LengthCounts::add(std::span<const std::int32_t> lengths) {
  for (const std::int32_t length : lengths) {
    const auto bin = static_cast<std::size_t>(length);
    if (bin >= counts_.size()) counts_.resize(bin + 1);
    ++counts_[bin];
    ++total_;
  }
}

std::int64_t LengthCounts::covering(double percent, std::int64_t least) const {
  std::int64_t covered = 0, length = 0;
  for (; length < std::ssize(counts_); ++length) {
    covered += counts_[static_cast<std::size_t>(length)];
    if (100.0 * static_cast<double>(covered) >= percent * static_cast<double>(total_)) break;
  }
  return std::max(length, least);
}

std::string percent_text(double percent) {
  return config::shortest(percent) + "%";
}

}  // namespace encore::tasks
