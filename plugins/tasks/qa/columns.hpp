// SPDX-License-Identifier: BSD-3-Clause
// Columns: access to the columns of an encoded set of questions by meaning instead of by index. Qa::encode
// (qa.cpp) fills the columns; answers.cpp, measures and descriptions read them here. The names are those of
// Qa::columns(); change both together.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <encore/task.hpp>

#include "text_column.hpp"
#include "text_places.hpp"

namespace encore::qa {

/// The columns of an encoded set of questions.
class Columns {
 public:
  explicit Columns(const ExampleSet& set)
      : set_(set),
        cut_(set.column("cut_pieces")),
        ranges_(set.column("ranges")),
        context_(set.column("context")),
        answers_(set.column("answers")),
        known_(set.has_column("start")) {}

  const ExampleSet& set() const { return set_; }
  /// Returns whether the set has the true answers.
  bool known() const { return known_; }
  std::int32_t cut_tokens(std::size_t example) const {
    return set_.integers(cut_, set_.sequences(example).first).front();
  }
  std::string context(std::size_t example) const {
    return tasks::texts_in(set_.integers(context_, set_.sequences(example).first)).front();
  }
  std::vector<std::string> answers(std::size_t example) const {
    return tasks::texts_in(set_.integers(answers_, set_.sequences(example).first));
  }
  /// Returns the number of context tokens in a window: its last rows, without the final [SEP].
  std::size_t tokens(std::size_t sequence) const { return set_.integers(ranges_, sequence).size() / 2; }
  std::size_t first_row(std::size_t sequence) const {
    return set_.ids(sequence).size() - 1 - tokens(sequence);
  }
  /// Returns the bytes from the start of one row of the context to the end of another.
  ByteRange bytes(std::size_t sequence, std::size_t first, std::size_t last) const {
    const std::span<const std::int32_t> all = set_.integers(ranges_, sequence);
    const std::size_t before = first_row(sequence);
    return {static_cast<std::size_t>(all[2 * (first - before)]),
            static_cast<std::size_t>(all[2 * (last - before) + 1])};
  }
  /// Returns whether a window holds the whole answer; the truth must be known.
  bool is_answered(std::size_t sequence) const {
    return set_.integers(set_.column("start"), sequence).front() > 0;
  }

 private:
  const ExampleSet& set_;
  std::size_t cut_, ranges_, context_, answers_;
  bool known_;
};

}  // namespace encore::qa
