// SPDX-License-Identifier: BSD-3-Clause
// The windows of an example of the tasks classify, multilabel and regress, and the share of each in the
// answer to the whole text. TextInput::encode writes the column; the tasks combine the outputs of the windows
// in measure, label and answer. Sums run over the windows in their order, so results have equal bits.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include <encore/examples.hpp>

namespace encore::tasks {

/// The column over sequences with the number of tokens that count for a window (own_tokens of the SDK). Sets
/// of tasks that cut a long text do not have it.
inline constexpr const char* own_tokens_column = "own_tokens";

struct WindowShare {
  std::size_t sequence = 0;
  double share = 1.0;  ///< of its text's tokens; those of a text sum to 1, but for rounding
};

/// Returns the sequences of an example. A text of one sequence has the share 1.
inline std::vector<WindowShare> window_shares(const ExampleSet& set, std::size_t example) {
  const Run windows = set.sequences(example);
  if (windows.count == 1) return {{.sequence = windows.first}};
  const std::size_t column = set.column(own_tokens_column);
  std::vector<WindowShare> shares;
  double all = 0.0;
  for (std::size_t s = windows.first; s < windows.first + windows.count; ++s) {
    shares.push_back({.sequence = s, .share = static_cast<double>(set.integers(column, s).front())});
    all += shares.back().share;
  }
  for (WindowShare& window : shares) window.share /= all;
  return shares;
}

/// Returns the first sequence of an example. Columns that describe the text are read there.
inline std::size_t first_window(const ExampleSet& set, std::size_t example) {
  return set.sequences(example).first;
}

/// Returns the mean of vectors of equal width, of one for each window, weighted by the shares. of(sequence)
/// returns the vector of a window. A single one is returned as it is.
template <class Of>
std::vector<double> mean_of_windows(const std::vector<WindowShare>& windows, const Of& of) {
  if (windows.size() == 1) return of(windows.front().sequence);
  std::vector<double> mean;
  for (const WindowShare& window : windows) {
    const std::vector<double> values = of(window.sequence);
    mean.resize(values.size());
    for (std::size_t k = 0; k < values.size(); ++k) mean[k] += window.share * values[k];
  }
  return mean;
}

}  // namespace encore::tasks
