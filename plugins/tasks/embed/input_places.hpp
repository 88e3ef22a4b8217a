// SPDX-License-Identifier: BSD-3-Clause
// The sequences at which the inputs of each example begin, for the task "embed". An input that is read in
// windows has several sequences; the head "embedding" writes the vector of the input to the first of them.
// Embed::encode writes the column, and embed.cpp reads vectors through this class.
#pragma once

#include <cstddef>
#include <vector>

#include <encore/examples.hpp>

namespace encore::embed {

/// The column with the number of a window within its input, from 0. It is there with task.stride only.
inline constexpr const char* window_column = "window";

class InputPlaces {
 public:
  explicit InputPlaces(const ExampleSet& set) {
    const bool windows = set.has_column(window_column);
    const std::size_t column = windows ? set.column(window_column) : 0;
    for (std::size_t i = 0; i < set.size(); ++i) {
      const Run of = set.sequences(i);
      for (std::size_t s = of.first; s < of.first + of.count; ++s)
        if (!windows || set.integers(column, s).front() == 0) begins_.push_back(s);
      offsets_.push_back(begins_.size());
    }
  }

  std::size_t inputs() const { return begins_.size(); }
  /// Returns the number of inputs of an example, negatives among them.
  std::size_t inputs(std::size_t example) const { return offsets_[example + 1] - offsets_[example]; }
  /// Returns whether an example has a second input. Negatives may follow it.
  bool is_pair(std::size_t example) const { return inputs(example) >= 2; }
  /// Returns the sequence with the vector of an input: 0 is the first one, 1 the second one.
  std::size_t of(std::size_t example, std::size_t input) const { return begins_[offsets_[example] + input]; }

 private:
  std::vector<std::size_t> begins_, offsets_ = {0};
};

}  // namespace encore::embed
