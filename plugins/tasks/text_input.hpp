// TextInput: the text of an example, or its two texts, as the rows of one sequence: [CLS] a [SEP] or
// [CLS] a [SEP] b [SEP], as BERT reads them (Devlin et al. 2019). Shared by the tasks that say something of a
// whole text. Place in the flow: records with `text` (and `text2`) -> ids, where they were cut, the segments
// of pairs.
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

  /// Examples are pairs where the training set, or the reader of a model from elsewhere, has a second text.
  void prepare(const Records& examples) { pairs_ = examples.has(second_field); }
  /// Throws Error where the training set had a second text and these records have none.
  void require_texts(const Records& records) const;
  /// A task's knowledge with a mark of pairs, an empty line in front; and back.
  std::string marked(const std::string& knowledge) const { return (pairs_ ? "\n" : "") + knowledge; }
  std::string_view take_mark(std::string_view knowledge);
  bool pairs() const { return pairs_; }

  /// Words of all texts, parted by white space.
  TextCounts text_counts(const Records& train) const;

  /// Adds what encode fills: cut_pieces (sequences), and for pairs segments (tokens): 0 up to the first
  /// [SEP], 1 behind it.
  void add_columns(std::vector<ColumnRule>& columns) const;
  /// `first_column` is the number of the first of add_columns. Pieces that would pass max_length are cut at
  /// the end of the longer text, and where both are long each keeps half, as the library "tokenizers" does it
  /// (longest_first).
  void encode(const Records& records, std::size_t record, const Tokenizer& tokenizer, EncodedExample& to,
              std::size_t first_column) const;

  /// Adds the counts "cut texts" and "cut pieces" and a note where any were cut.
  void describe(const ExampleSet& set, SetDescription& description) const;
  /// "its label does not depend on its last 2 pieces" for "its label"; "" where nothing was cut.
  std::string left_out(const ExampleSet& set, std::size_t sequence, const std::string& answer) const;

  /// A line is a text, for pairs two of them with a tab between. Throws Error for pairs where a line is not.
  Records from_text(std::span<const std::string> lines) const;
  /// "a" or "a\tb", and the text fields themselves behind what `answers` has.
  std::string shown(const Records& records, std::size_t record) const;
  void add_texts(const Records& records, Records& answers) const;

 private:
  static constexpr const char* second_field = "text2";

  std::size_t max_length_;
  bool pairs_ = false;
};

/// How many pieces of two texts stay where there is room for `room` of them.
struct KeptPieces {
  std::size_t first = 0, second = 0;
};
KeptPieces longest_first(std::size_t first, std::size_t second, std::size_t room);

}  // namespace encore::tasks
