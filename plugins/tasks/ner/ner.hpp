// The task "ner", entity recognition: one label per word in IOB2, scored by exact match of entities.
// Place in the flow: records with `words` (and `tags`, the truth) -> ids and targets -> classes of rows ->
// counts per sentence, tags, entities. Read next: entities.hpp.
#pragma once

#include <string>
#include <vector>

#include <encore/task.hpp>

#include "label_names.hpp"

namespace encore::ner {

class Ner final : public Task {
 public:
  static constexpr const char* summary =
      "entity recognition: one label per word in IOB2, scored by exact match of entities as conlleval does";
  static constexpr const char* select = "max dev/f1";
  static Schema options() { return {}; }
  static TaskFields fields() { return {{"words"}, {"tags"}}; }
  static std::vector<Measure> measures();

  Ner(const Options& options, const TaskContext& context);

  void prepare(const Records& train) override;
  void extend(const Records& other) override;
  std::string knowledge() const override { return names_.text(); }
  void restore(std::string_view knowledge) override { names_ = tasks::LabelNames::from_text(knowledge); }
  std::vector<std::string> labels() const override { return names_.labels(); }
  TextCounts text_counts(const Records& train) const override;

  std::vector<ColumnRule> columns() const override;
  std::vector<OutputRule> outputs() const override;
  /// [CLS] pieces [SEP], the label on the first piece of each word. Cuts before the word that would pass
  /// max_length - 1 rows, so that [SEP] still fits. A word without any piece (a lone control character)
  /// becomes [UNK].
  void encode(const Records& records, std::size_t record, const Tokenizer& tokenizer,
              EncodedExample& to) const override;
  SetDescription describe(const ExampleSet& set) const override;

  void measure(const ExampleSet& set, const Outputs& outputs, Statistics& statistics) const override;
  Records label(const Records& records, const ExampleSet& set, const Outputs& outputs) const override;

  Records from_text(std::span<const std::string> lines) const override;
  Records answer(const Records& records, const ExampleSet& set, const Outputs& outputs) const override;
  std::string left_out(const ExampleSet& set, std::size_t sequence) const override;

 private:
  class Columns;

  std::vector<std::string> true_tags(const Columns& in, std::size_t sequence) const;
  /// As many as there are words: those that were cut are O.
  std::vector<std::string> predicted_tags(const Columns& in, std::size_t sequence,
                                          std::span<const std::int32_t> classes) const;
  Records::TextLists all_predicted(const ExampleSet& set, const Outputs& outputs) const;

  std::int64_t max_length_;
  tasks::LabelNames names_;
};

}  // namespace encore::ner
