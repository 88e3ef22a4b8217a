// SPDX-License-Identifier: BSD-3-Clause
// WordLabels: the words of a sentence as the rows of one sequence, [CLS] tokens [SEP], with the label of each
// word on its first token; and the classes of these rows back to a label per word. Tasks that label words
// share it. Place in the flow: records with `words` (and `tags`, the truth) -> ids and targets -> classes of
// rows -> labels of words. Runs store knowledge(), so its form must not change.
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

class WordLabels {
 public:
  class Columns;

  /// `cut_label`: the predicted label of words that did not fit into max_length.
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
  static TextCounts text_counts(const Records& train);

  std::vector<ColumnRule> columns() const;
  static OutputRule output() { return {.name = classes_output, .truth = targets_column}; }
  /// Encodes a sentence. Cuts it before the word that would exceed max_length - 1 rows, so that [SEP] fits. A
  /// word without a token (a lone control character) becomes [UNK].
  void encode(const Records& records, std::size_t record, const Tokenizer& tokenizer,
              EncodedExample& to) const;

  std::vector<std::string> true_labels(const Columns& in, std::size_t sequence) const;
  /// Returns one label for each word.
  std::vector<std::string> predicted_labels(const Columns& in, std::size_t sequence,
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
  Scores scores(const Columns& in, std::size_t sequence, const Outputs& outputs) const;

  /// Returns records with each line as `text`, and split into `words`.
  static Records from_text(std::span<const std::string> lines);
  /// Returns "WHAT its last 2 words" if words were cut, with `what` first; else "".
  static std::string left_out(const ExampleSet& set, std::size_t sequence, const std::string& what);

 private:
  std::int64_t max_length_;
  std::string cut_label_;
  ClassWeights weights_;
  LabelNames names_;
};

/// The columns of a set, found once by name.
class WordLabels::Columns {
 public:
  explicit Columns(const ExampleSet& set)
      : set_(set),
        tags_(set.column("tags")),
        first_tokens_(set.column("first_pieces")),
        cut_words_(set.column("cut_words")) {}
  const ExampleSet& set() const { return set_; }
  /// Returns the numbers of the true labels of all words; empty if the truth is unknown.
  std::span<const std::int32_t> tags(std::size_t sequence) const { return set_.integers(tags_, sequence); }
  std::span<const std::int32_t> first_tokens(std::size_t sequence) const {
    return set_.integers(first_tokens_, sequence);
  }
  std::int32_t cut_words(std::size_t sequence) const { return set_.integers(cut_words_, sequence)[0]; }

 private:
  const ExampleSet& set_;
  std::size_t tags_, first_tokens_, cut_words_;
};

}  // namespace encore::tasks
