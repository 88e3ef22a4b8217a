// SPDX-License-Identifier: BSD-3-Clause
// TextInput: the text of an example, or its text pair, as the rows of one sequence: [CLS] a [SEP] or
// [CLS] a [SEP] b [SEP], as BERT reads them (Devlin et al. 2019). Tasks about a whole text share it. Place in
// the flow: records with `text` (and `text2`) -> ids, the number of cut ones, the segments of pairs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <encore/task.hpp>

#include "counted.hpp"

namespace encore::tasks {

class TextInput {
 public:
  explicit TextInput(std::int64_t max_length);

  /// Examples are pairs if the training set has a second text.
  void prepare(const Records& train) { pairs_ = train.has(second_field); }
  /// Throws Error if the training set had a second text and these records lack it.
  void require_texts(const Records& records) const;
  /// Marks a task's knowledge for pairs by an empty line in front; take_mark() reads it back.
  std::string marked(const std::string& knowledge) const { return (pairs_ ? "\n" : "") + knowledge; }
  std::string_view take_mark(std::string_view knowledge);
  bool pairs() const { return pairs_; }

  /// Counts the words of all examples, separated by white space.
  TextCounts text_counts(const Records& train) const;

  /// Adds the columns that encode fills: cut_pieces (sequences), and for pairs segments (tokens): 0 up to the
  /// first [SEP], 1 behind it.
  void add_columns(std::vector<ColumnRule>& columns) const;
  /// `first_column` is the number of the first of add_columns. Tokens that would pass max_length are cut at
  /// the end of the longer text, and where both are long each keeps half, as the library "tokenizers" does it
  /// (longest_first).
  void encode(const Records& records, std::size_t record, const Tokenizer& tokenizer, EncodedExample& to,
              std::size_t first_column) const;

  /// Adds the counts of what was cut, and a note if any were cut.
  void describe(const ExampleSet& set, SetDescription& description) const;
  /// Returns "its label does not depend on its last 2 tokens" for "its label"; "" if nothing was cut.
  std::string left_out(const ExampleSet& set, std::size_t sequence, const std::string& answer) const;

  /// Reads a line as a text, for pairs two with a tab between. Throws Error if a line is not a pair.
  Records from_text(std::span<const std::string> lines) const;
  /// Adds the lines that are shown, "a" or "a\tb", and the text fields to `answers`.
  std::string shown(const Records& records, std::size_t record) const;
  void add_texts(const Records& records, Records& answers) const;

 private:
  static constexpr const char* second_field = "text2";

  std::size_t max_length_;
  bool pairs_ = false;
};

/// Returns how many tokens of the pair stay if there is room for `room`.
struct KeptTokens {
  std::size_t first = 0, second = 0;
};
KeptTokens longest_first(std::size_t first, std::size_t second, std::size_t room);

}  // namespace encore::tasks
