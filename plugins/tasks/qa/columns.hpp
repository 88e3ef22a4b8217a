// The columns of an encoded set of questions by what they mean. Place in the flow: Qa::encode (qa.cpp) fills
// them -> here -> answers.hpp, measures and descriptions.
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

/// The columns of an encoded set by what they mean.
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
  /// Whether the set has the truth.
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
  /// Tokens of the context in a window: these are its last rows but for one [SEP].
  std::size_t tokens(std::size_t sequence) const { return set_.integers(ranges_, sequence).size() / 2; }
  std::size_t first_row(std::size_t sequence) const {
    return set_.ids(sequence).size() - 1 - tokens(sequence);
  }
  /// From the first byte of one row of the context to behind the last byte of another.
  ByteRange bytes(std::size_t sequence, std::size_t first, std::size_t last) const {
    const std::span<const std::int32_t> all = set_.integers(ranges_, sequence);
    const std::size_t before = first_row(sequence);
    return {static_cast<std::size_t>(all[2 * (first - before)]),
            static_cast<std::size_t>(all[2 * (last - before) + 1])};
  }
  /// Whether a window holds the whole answer; the truth is known.
  bool is_answered(std::size_t sequence) const {
    return set_.integers(set_.column("start"), sequence).front() > 0;
  }

 private:
  const ExampleSet& set_;
  std::size_t cut_, ranges_, context_, answers_;
  bool known_;
};

}  // namespace encore::qa
