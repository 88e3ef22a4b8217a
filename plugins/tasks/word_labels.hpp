// WordLabels: the words of a sentence as the rows of one sequence, [CLS] tokens [SEP], with the label of each
// word on its first token; and the classes of these rows back to a label per word. Shared by the tasks that
// say something of every word. Place in the flow: records with `words` (and `tags`, the truth) -> ids and
// targets -> classes of rows -> labels of words.
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

  /// `cut_label`: what words get that did not fit.
  WordLabels(const Options& options, const TaskContext& context, std::string cut_label);

  /// The labels of the model. Words of the training set with each of them decide their weights.
  void prepare(const std::vector<std::string>& labels, const Records& train);
  /// In place of prepare: the classes of a model from elsewhere. Throws Error.
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
  /// Cuts before the word that would pass max_length - 1 rows, so that [SEP] still fits. A word without any
  /// token (a lone control character) becomes [UNK].
  void encode(const Records& records, std::size_t record, const Tokenizer& tokenizer,
              EncodedExample& to) const;

  std::vector<std::string> true_labels(const Columns& in, std::size_t sequence) const;
  /// As many as there are words.
  std::vector<std::string> predicted_labels(const Columns& in, std::size_t sequence,
                                            const Outputs& outputs) const;
  /// Of every sentence.
  Records::TextLists all_predicted(const ExampleSet& set, const Outputs& outputs) const;
  /// Says what Task::no_scores says.
  std::string no_scores(std::span<const OutputRule> given) const {
    return ClassProbabilities::missing(given, Space::tokens, names_.labels().size());
  }
  /// What the model says of the labels of a sentence, by word; words that were cut have a score of 0 and no
  /// others.
  struct Scores {
    std::vector<double> predicted;  ///< of the label of each word
    Records::NumberMaps all;        ///< of every label
  };
  Scores scores(const Columns& in, std::size_t sequence, const Outputs& outputs) const;

  /// Lines as `text`, and split into `words`.
  static Records from_text(std::span<const std::string> lines);
  /// "WHAT its last 2 words" where words were cut, else "".
  static std::string left_out(const ExampleSet& set, std::size_t sequence, const std::string& what);

 private:
  std::int64_t max_length_;
  std::string cut_label_;
  ClassWeights weights_;
  LabelNames names_;
};

/// The columns of a set, found once.
class WordLabels::Columns {
 public:
  explicit Columns(const ExampleSet& set)
      : set_(set),
        tags_(set.column("tags")),
        first_tokens_(set.column("first_pieces")),
        cut_words_(set.column("cut_words")) {}
  const ExampleSet& set() const { return set_; }
  /// Numbers of the true labels of all words; none where the truth is not known.
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
