// SPDX-License-Identifier: BSD-3-Clause
// The task "ner", entity recognition: one label per word in IOB2, scored by exact match of entities. The flow
// is: records with `words` (and `tags`, the truth) -> ids and targets -> classes of rows -> counts per
// sentence, tags, entities. Trainer and inference call it through Task; runs store knowledge() and the names
// of measures, so these must not change. Read next: word_labels.hpp, entities.hpp.
#pragma once

#include <string>
#include <vector>

#include <encore/reads_windows.hpp>
#include <encore/task.hpp>

#include "word_labels.hpp"

namespace encore::ner {

class Ner final : public Task, public ReadsWindows {
 public:
  static constexpr const char* summary =
      "entity recognition: one IOB2 tag for each word, such as B-PER, I-PER or O; an entity counts as "
      "correct if all its words and its type are correct, as in conlleval. The heads `linear` and `crf` fit";
  static constexpr const char* select = "max dev/f1";
  static Schema options() { return tasks::WordLabels::with_options({}); }
  static TaskFields fields() { return {{"words"}, {"tags"}}; }
  static std::vector<Measure> measures();
  static std::vector<AdoptedModel> adopted() {
    return {{.architecture = "ForTokenClassification", .head = "linear", .reader = "conll"}};
  }

  Ner(const Options& options, const TaskContext& context);

  void prepare(const Records& train) override;
  void adopt(const std::vector<std::string>& classes) override;
  void extend(const Records& other) override;
  std::string knowledge() const override { return words_.knowledge(); }
  void restore(std::string_view knowledge) override;
  std::vector<std::string> labels() const override { return words_.names().labels(); }
  TextCounts text_counts(const Records& train) const override { return words_.text_counts(train); }

  std::vector<ColumnRule> columns() const override { return words_.columns(); }
  std::vector<OutputRule> outputs() const override { return {words_.output()}; }
  void encode(const Records& records, std::size_t record, const Tokenizer& tokenizer,
              EncodedExample& to) const override;
  std::size_t stride_of_vectors() const override { return words_.stride(); }
  SetDescription describe(const ExampleSet& set) const override;

  void measure(const ExampleSet& set, const Outputs& outputs, Statistics& statistics) const override;
  Records label(const Records& records, const ExampleSet& set, const Outputs& outputs) const override;

  Records from_text(std::span<const std::string> lines) const override { return words_.from_text(lines); }
  Records answer(const Records& records, const ExampleSet& set, const Outputs& outputs) const override {
    return answers_of(records, set, outputs, false);
  }
  std::string no_scores(std::span<const OutputRule> given) const override { return words_.no_scores(given); }
  Records scored_answer(const Records& records, const ExampleSet& set,
                        const Outputs& outputs) const override {
    return answers_of(records, set, outputs, true);
  }
  std::string left_out(const ExampleSet& set, std::size_t example) const override {
    return words_.left_out(set, example, "entities are not looked for in");
  }

 private:
  /// Finds whether the classes are those of BIOES, as an imported model may have. Data and answers use IOB2,
  /// so tags are then converted in both directions.
  void find_scheme();
  std::vector<std::string> iob2(std::vector<std::string> tags) const;
  std::vector<std::string> own_tags(const std::vector<std::string>& iob2) const;
  /// Builds the answers. With scores, an entity has the mean and the lowest probability of its words' tags.
  Records answers_of(const Records& records, const ExampleSet& set, const Outputs& outputs,
                     bool with_scores) const;

  std::int64_t max_length_;
  tasks::WordLabels words_;  ///< words that were cut get the label O
  bool bioes_ = false;
};

}  // namespace encore::ner
