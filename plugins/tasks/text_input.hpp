// SPDX-License-Identifier: BSD-3-Clause
// TextInput: the text or text pair of an example as the rows of one sequence: [CLS] a [SEP] or [CLS] a [SEP]
// b [SEP], as in BERT (Devlin et al. 2019), or of several sequences, the windows of a long text. The tasks
// classify, multilabel and regress use it. The flow is: records with `text` (and `text2`) -> ids, number of
// cut tokens, segments of pairs. Results of runs depend on how a text is cut, so it must not change. Read
// next: window_shares.hpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <encore/reads_windows.hpp>
#include <encore/task.hpp>

#include "line_text.hpp"

namespace encore::tasks {

class TextInput {
 public:
  /// Adds the option `stride`.
  static Schema with_options(Schema schema);
  /// Throws OptionError if windows of max_length tokens cannot share `stride` tokens.
  TextInput(const Options& options, std::int64_t max_length);

  /// Decides whether examples are pairs: they are if the training set, or the reader of an imported model,
  /// has a second text.
  void prepare(const Records& train) { pairs_ = train.has(second_field); }
  /// Throws Error if the training set had a second text and these records lack it.
  void require_texts(const Records& records) const;
  /// Returns a task's knowledge (what it learned from the training set, as text), with an empty line before
  /// it if examples are pairs.
  std::string marked(const std::string& knowledge) const { return (pairs_ ? "\n" : "") + knowledge; }
  /// Reads that empty line, which says that examples are pairs, and returns the knowledge after it.
  std::string_view take_mark(std::string_view knowledge);
  bool pairs() const { return pairs_; }
  /// Returns the number of tokens that consecutive windows share; 0: a long text is cut.
  std::size_t stride() const { return stride_; }

  /// Counts the words of all examples, separated by white space.
  TextCounts text_counts(const Records& train) const;

  /// Adds the columns that encode fills: cut_pieces (sequences), for pairs segments (tokens): 0 up to the
  /// first [SEP], 1 after it, and with a stride own_tokens (sequences, window_shares.hpp).
  void add_columns(std::vector<ColumnRule>& columns) const;
  /// Encodes a record. `first_column` is the index of the first column of add_columns. If the tokens exceed
  /// max_length, the longer text is cut at its end; if both are long each keeps half, as in the library
  /// "tokenizers" (longest_first). With a stride the longer text is read in windows instead, and each window
  /// of a pair has the same tokens of the shorter text. `add_truth` is called once for each sequence and
  /// fills the other columns.
  void encode(const Records& records, std::size_t record, const Tokenizer& tokenizer, EncodedExample& to,
              std::size_t first_column, const std::function<void()>& add_truth) const;

  /// Adds the counts of windows and of what was cut, and notes about them.
  void describe(const ExampleSet& set, SetDescription& description) const;
  /// Returns "its label does not depend on its last 2 tokens" for "its label"; "" if nothing was cut.
  std::string left_out(const ExampleSet& set, std::size_t example, const std::string& answer) const;

  /// Reads each line as a text, or for pairs as two with a tab between. Throws Error if a line is not a pair.
  Records from_text(std::span<const std::string> lines) const;
  /// Returns the line that a user sees for a record: "a", or "a\tb" for pairs.
  std::string shown(const Records& records, std::size_t record) const;
  void add_texts(const Records& records, Records& answers) const;

 private:
  static constexpr const char* second_field = "text2";

  /// The tokens of both parts of a record; `second` is empty without pairs.
  struct Tokens {
    std::vector<std::int32_t> first, second;
  };
  std::size_t markers() const { return pairs_ ? 3 : 2; }
  /// Returns the index of the column own_tokens, which is there with a stride only.
  std::size_t own_column(std::size_t first_column) const { return first_column + (pairs_ ? 2 : 1); }
  /// Appends one sequence with these parts of the tokens.
  void add_sequence(const Tokens& tokens, TextWindow first, TextWindow second, const Tokenizer& tokenizer,
                    EncodedExample& to, std::size_t first_column) const;

  std::size_t max_length_, stride_;  ///< stride 0: a long text is cut
  bool pairs_ = false;
};

/// The number of tokens that stay of the first and of the second text of a pair.
struct KeptTokens {
  std::size_t first = 0, second = 0;
};
/// Returns how many tokens stay if there is room for `room`: the longer text is cut first, at its end.
KeptTokens longest_first(std::size_t first, std::size_t second, std::size_t room);

}  // namespace encore::tasks
