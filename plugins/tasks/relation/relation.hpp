// SPDX-License-Identifier: BSD-3-Clause
// The task "relation": the relation between two marked spans of a text, one label per text, scored by
// macro F1. The text gets a sign on both sides of each span, as in R-BERT (Wu and He 2019). The flow is:
// records with `text` and `spans` (and `label`, the truth) -> ids, rows of the spans, a target -> the class
// (head "span_pair") -> labels, counts per text. Trainer and inference call it through Task; runs store
// knowledge() and the names of measures, so these must not change. Read next: marked_spans.hpp,
// sequence_class.hpp.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include <encore/task.hpp>

#include "sequence_class.hpp"

namespace encore::relation {

class Relation final : public Task {
 public:
  static constexpr const char* summary =
      "the relation between two marked spans of a text, as one label for each text (SemEval 2010, task 8)";
  static constexpr const char* select = "max dev/f1_macro";
  static Schema options();
  static TaskFields fields() { return {{"text", "spans"}, {"label"}}; }
  static std::vector<Measure> measures();

  /// Throws OptionError if max_length leaves no room for two spans.
  Relation(const Options& options, const TaskContext& context);

  void prepare(const Records& train) override { class_.prepare(train); }
  void extend(const Records& other) override { class_.extend(other); }
  std::string knowledge() const override { return class_.knowledge(); }
  void restore(std::string_view knowledge) override { class_.restore(knowledge); }
  std::vector<std::string> labels() const override { return class_.labels(); }
  /// Counts the words of all inputs, separated by white space, and the signs.
  TextCounts text_counts(const Records& train) const override;

  std::vector<ColumnRule> columns() const override;
  std::vector<OutputRule> outputs() const override { return class_.outputs(false); }
  /// Encodes [CLS] text [SEP]. The column `spans` has the first and last row of e1, then those of e2. If the
  /// text is too long, it is cut after the spans, then before them, between them, and last in the spans.
  void encode(const Records& records, std::size_t record, const Tokenizer& tokenizer,
              EncodedExample& to) const override;
  SetDescription describe(const ExampleSet& set) const override;

  void measure(const ExampleSet& set, const Outputs& outputs, Statistics& statistics) const override {
    class_.measure(set, outputs, statistics);
  }
  Records label(const Records&, const ExampleSet& set, const Outputs& outputs) const override {
    return class_.label(set, outputs);
  }

  /// Reads a line as a text with its marks, "the <e1>cork</e1> of the <e2>bottle</e2>". Throws Error if a
  /// mark is missing.
  Records from_text(std::span<const std::string> lines) const override;
  Records answer(const Records& records, const ExampleSet& set, const Outputs& outputs) const override {
    return completed(records, class_.label(set, outputs));
  }
  std::string no_scores(std::span<const OutputRule> given) const override { return class_.no_scores(given); }
  Records scored_answer(const Records& records, const ExampleSet& set,
                        const Outputs& outputs) const override {
    return completed(records, class_.scored_label(set, outputs));
  }
  std::string left_out(const ExampleSet& set, std::size_t sequence) const override;

 private:
  /// Adds the input and the line that a user sees to the field `label` of `answers`, which may have scores.
  static Records completed(const Records& records, Records answers);

  bool signs_;
  std::size_t max_length_;
  tasks::SequenceClass class_;
};

}  // namespace encore::relation
