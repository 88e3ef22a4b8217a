// SPDX-License-Identifier: BSD-3-Clause
// ReadsWindows: an extension of Task. A task inherits it if it can read a text that is longer than
// data.max_length as several sequences of one example, the windows. The worker's answers then say how many
// windows there were, and Engine::embed reads a long text in windows, too. The functions below cut the
// windows, for tasks and for the Engine, in the same way. Results of runs depend on them, so they must not
// change. The header is part of the ABI of plugins: a change needs a new ENCORE_SDK_VERSION (plugin.hpp).
// Read next, in the source tree: plugins/tasks/text_input.hpp.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include <encore/error.hpp>
#include <encore/examples.hpp>

namespace encore {

/// Consecutive tokens of a text.
struct TextWindow {
  std::size_t first = 0, count = 0;

  friend bool operator==(const TextWindow&, const TextWindow&) = default;
};

/// Returns windows of at most `room` tokens, each beginning room - stride tokens after the previous one; the
/// last is the first that reaches the end. So Hugging Face's tokenizers cut with `stride`. A text without
/// tokens has one empty window. stride < room.
inline std::vector<TextWindow> windows_of(std::size_t tokens, std::size_t room, std::size_t stride) {
  ENCORE_REQUIRE(stride < room, "every window shows something new");
  std::vector<TextWindow> windows;
  for (std::size_t first = 0;; first += room - stride) {
    windows.push_back({.first = first, .count = std::min(room, tokens - first)});
    if (first + windows.back().count == tokens) return windows;
  }
}

/// Returns for each window of windows_of() the number of tokens that count for it, so that each token of the
/// text counts once: of the tokens that two windows share, the first half (one more, if the number is odd)
/// counts for the earlier one. Only a text without tokens has a window with 0.
inline std::vector<std::size_t> own_tokens(const std::vector<TextWindow>& windows) {
  std::vector<std::size_t> own;
  std::size_t begin = 0;
  for (std::size_t i = 0; i < windows.size(); ++i) {
    std::size_t end = windows[i].first + windows[i].count;
    if (i + 1 < windows.size()) end = windows[i + 1].first + (end - windows[i + 1].first + 1) / 2;
    own.push_back(end - begin);
    begin = end;
  }
  return own;
}

/// A task inherits ReadsWindows beside Task.
class ReadsWindows {
 public:
  virtual ~ReadsWindows() = default;
  /// Returns the number of windows in which the task reads an example; of an example with several inputs,
  /// that of the input with most windows. 1: none is longer than a sequence.
  virtual std::size_t windows(const ExampleSet& set, std::size_t example) const {
    return set.sequences(example).count;
  }
  /// Returns the number of tokens that consecutive windows share if Engine::embed reads a long text in
  /// windows; 0: it reads the beginning. It is less than max_length - 2.
  virtual std::size_t stride_of_vectors() const { return 0; }
};

}  // namespace encore
