// SPDX-License-Identifier: BSD-3-Clause
// WordLabels: the words of a sentence as the rows of a sequence, [CLS] tokens [SEP], with the label of each
// word on its first token; and the classes of these rows back to a label per word. A sentence that is too
// long is cut, or read in windows, each a sequence of the same example. Tasks that label words share it.
// Place in the flow: records with `words` (and `tags`, the truth) -> ids and targets -> classes of rows ->
// labels of words. Runs store knowledge(), so its form must not change. Text that a user types is first split
// into words as annotated corpora are (text_words.cpp): predictions for such text depend on the split,
// trained models do not.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <encore/class_probabilities.hpp>
#include <encore/task.hpp>

#include "class_weights.hpp"
#include "label_names.hpp"

namespace encore::tasks {

/// Words of a sentence that one sequence shows, [first, end), and those of them that have their labels there.
struct WordWindow {
  std::size_t first = 0, end = 0;
  std::size_t own_first = 0, own_end = 0;

  friend bool operator==(const WordWindow&, const WordWindow&) = default;
};

/// Returns windows of whole words with at most `room` tokens (a word of more tokens is alone). `tokens`: the
/// number of tokens of each word. The next window begins with the last words of the one before it: as many as
/// have at most `stride` tokens and leave room for the word behind them. Of these shared words the first half
/// belongs to the earlier window and the second half to the later one, so a word has context on both sides. A
/// sentence without words has one empty window.
std::vector<WordWindow> windows_of(std::span<const std::size_t> tokens, std::size_t room, std::size_t stride);

class WordLabels {
 public:
  class Columns;

  /// Returns `schema` with the options of class weights and windows added.
  static Schema with_options(Schema schema);

  /// `cut_label`: the predicted label of words that did not fit into max_length. Throws OptionError if the
  /// windows would share more tokens than they have.
  WordLabels(const Options& options, const TaskContext& context, std::string cut_label);

  /// Takes the model's labels, and counts the words of `train` with each label for class weights.
  void prepare(const std::vector<std::string>& labels, const Records& train);
  /// Takes the classes of an imported model, in place of prepare(). Throws Error.
  void adopt(const std::vector<std::string>& classes) {
    weights_.require_off();
    names_ = LabelNames::adopted(classes);
  }
  void add(const std::string& label) { names_.add(label); }
  std::string knowledge() const { return weights_.marked(names_.text()); }
  /// Throws Error.
  void restore(std::string_view knowledge);
  const LabelNames& names() const { return names_; }
  /// Returns the largest number of tokens that consecutive windows share; 0: sentences that do not fit are
  /// cut.
  std::size_t stride() const { return stride_; }
  static TextCounts text_counts(const Records& train);

  std::vector<ColumnRule> columns() const;
  static OutputRule output() { return {.name = classes_output, .truth = targets_column}; }
  /// Encodes a sentence. Without `stride` it is cut before the word that would exceed max_length - 1 rows, so
  /// that [SEP] fits. Otherwise a sentence that does not fit becomes several sequences, one for each window
  /// of windows_of(); each word has its label in one of them. A word without a token (a lone control
  /// character) becomes [UNK].
  void encode(const Records& records, std::size_t record, const Tokenizer& tokenizer,
              EncodedExample& to) const;

  std::vector<std::string> true_labels(const Columns& in, std::size_t example) const;
  /// Returns one label for each word.
  std::vector<std::string> predicted_labels(const Columns& in, std::size_t example,
                                            const Outputs& outputs) const;
  /// Returns the labels of every sentence.
  Records::TextLists all_predicted(const ExampleSet& set, const Outputs& outputs) const;
  /// Returns why there are no scores (Task::no_scores), or "".
  std::string no_scores(std::span<const OutputRule> given) const {
    return ClassProbabilities::missing(given, Space::tokens, names_.labels().size());
  }
  /// The predicted labels of a sentence with their probabilities, by word. Words that were cut have score 0
  /// and no other scores.
  struct Scores {
    std::vector<double> predicted;  ///< of the predicted label of each word
    Records::NumberMaps all;        ///< of every label, by word
  };
  Scores scores(const Columns& in, std::size_t example, const Outputs& outputs) const;

  /// Returns records with each line as `text`, and split into `words`.
  static Records from_text(std::span<const std::string> lines);
  /// Returns "WHAT its last 2 words" if words were cut, with `what` first; else "".
  static std::string left_out(const ExampleSet& set, std::size_t example, const std::string& what);

 private:
  struct Sentence;
  void encode_window(const Sentence& sentence, const WordWindow& window, const Tokenizer& tokenizer,
                     EncodedExample& to) const;

  std::int64_t max_length_;
  std::size_t stride_;  ///< 0: sentences that do not fit are cut
  std::string cut_label_;
  ClassWeights weights_;
  LabelNames names_;
};

/// The columns of a set, found once by name. An example is a sentence, of one sequence or several windows.
class WordLabels::Columns {
 public:
  explicit Columns(const ExampleSet& set)
      : set_(set),
        tags_(set.column("tags")),
        first_tokens_(set.column("first_pieces")),
        cut_words_(set.column("cut_words")) {}
  const ExampleSet& set() const { return set_; }
  /// Returns the numbers of the true labels of all words; empty if the truth is unknown.
  std::vector<std::int32_t> tags(std::size_t example) const;
  /// Returns the rows of the words that have their labels in this sequence.
  std::span<const std::int32_t> first_tokens(std::size_t sequence) const {
    return set_.integers(first_tokens_, sequence);
  }
  /// Return the number of words that the model reads, and that were cut.
  std::size_t read_words(std::size_t example) const;
  std::int32_t cut_words(std::size_t example) const {
    return set_.integers(cut_words_, set_.sequences(example).first)[0];
  }
  /// Returns the number of sentences that are read in several windows.
  std::int64_t windowed() const;

 private:
  const ExampleSet& set_;
  std::size_t tags_, first_tokens_, cut_words_;
};

// --- words of a text (text_words.cpp), for WordLabels::from_text and answers ---

struct TextWord {
  std::string_view text;  ///< within the line
  std::size_t start = 0;  ///< in Unicode code points from the start of the line
  std::size_t end = 0;    ///< one past the last
};

/// Returns the words of one line without white space: punctuation at the ends of a word is separate, and so
/// is an English 's. The line must be UTF-8 and outlive the result.
std::vector<TextWord> split_words(std::string_view line);

/// Writes the words of a record, which stay as they are, into `line`, with a blank between two, and returns
/// them as parts of it.
std::vector<TextWord> join_words(const std::vector<std::string>& words, std::string& line);

}  // namespace encore::tasks
