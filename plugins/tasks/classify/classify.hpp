// SPDX-License-Identifier: BSD-3-Clause
// The task "classify": one label per text or text pair, scored by accuracy. The head predicts it from the
// first row of the sequence ([CLS]), or from the mean of all rows (`pooling` of the head `linear`). The flow
// is: records with `text`, perhaps `text2` (and `label`, the truth) -> ids and a target -> the class of the
// sequence -> counts per example, labels. Trainer and inference call it through Task; runs store knowledge()
// and the names of measures, so these must not change. Read next: text_input.hpp, sequence_class.hpp.
#pragma once

#include <string>
#include <vector>

#include <encore/adopts_fields.hpp>
#include <encore/reads_windows.hpp>
#include <encore/task.hpp>

#include "sequence_class.hpp"
#include "text_input.hpp"

namespace encore::classify {

class Classify final : public Task, public AdoptsFields, public ReadsWindows {
 public:
  static constexpr int version = 2;  // 1 computed the head on every row
  static constexpr const char* summary =
      "one label for each text or text pair, predicted from its first token ([CLS]) or from the mean of its "
      "tokens (`pooling` of the head); scored by accuracy";
  static constexpr const char* select = "max dev/accuracy";
  static Schema options() { return tasks::TextInput::with_options(tasks::ClassWeights::with_options({})); }
  static TaskFields fields() { return {{"text"}, {"label"}, {"text2"}}; }
  static std::vector<Measure> measures();
  static std::vector<AdoptedModel> adopted() {
    return {{.architecture = "ForSequenceClassification",
             .head = "linear",
             .head_options = {"pooler=true"},
             .reader = "tsv"}};
  }

  Classify(const Options& options, const TaskContext& context);

  void prepare(const Records& train) override;
  void extend(const Records& other) override;
  void adopt(const std::vector<std::string>& classes) override { class_.adopt(classes); }
  void adopt_fields(const Records& questions) override { texts_.prepare(questions); }
  std::string knowledge() const override { return texts_.marked(class_.knowledge()); }
  void restore(std::string_view knowledge) override { class_.restore(texts_.take_mark(knowledge)); }
  std::vector<std::string> labels() const override { return class_.labels(); }
  TextCounts text_counts(const Records& train) const override { return texts_.text_counts(train); }

  std::vector<ColumnRule> columns() const override;
  std::vector<OutputRule> outputs() const override { return class_.outputs(texts_.stride() > 0); }
  /// Encodes the ids as TextInput does, and the class of each sequence.
  void encode(const Records& records, std::size_t record, const Tokenizer& tokenizer,
              EncodedExample& to) const override;
  bool separates_sequences() const override { return texts_.stride() > 0; }
  std::size_t stride_of_vectors() const override { return texts_.stride(); }
  SetDescription describe(const ExampleSet& set) const override;

  void measure(const ExampleSet& set, const Outputs& outputs, Statistics& statistics) const override {
    class_.measure(set, outputs, statistics);
  }
  Records label(const Records&, const ExampleSet& set, const Outputs& outputs) const override {
    return class_.label(set, outputs);
  }

  Records from_text(std::span<const std::string> lines) const override;
  Records answer(const Records& records, const ExampleSet& set, const Outputs& outputs) const override {
    return completed(records, class_.label(set, outputs));
  }
  std::string no_scores(std::span<const OutputRule> given) const override { return class_.no_scores(given); }
  Records scored_answer(const Records& records, const ExampleSet& set,
                        const Outputs& outputs) const override {
    return completed(records, class_.scored_label(set, outputs));
  }
  std::string left_out(const ExampleSet& set, std::size_t example) const override;

 private:
  /// Adds the input and the line that a user sees to the field `label` of `answers`, which may have scores.
  Records completed(const Records& records, Records answers) const;

  tasks::SequenceClass class_;
  tasks::TextInput texts_;
};

}  // namespace encore::classify
