// SPDX-License-Identifier: BSD-3-Clause
// The task "regress": a number per text or text pair, predicted from the first row of the sequence ([CLS])
// and scored by rank correlation; the number of a text in windows is the mean of theirs. The flow is: records
// with `text`, perhaps `text2` (and `number`, the truth)
// -> ids and a target -> a number (head "regression") -> errors and pairs of numbers per example. Trainer and
// inference call it through Task; runs store knowledge() and the names of measures, so these must not change.
// Read next: text_input.hpp.
#pragma once

#include <string>
#include <vector>

#include <encore/reads_windows.hpp>
#include <encore/task.hpp>

#include "text_input.hpp"

namespace encore::regress {

class Regress final : public Task, public ReadsWindows {
 public:
  static constexpr const char* summary =
      "a number for each text or text pair, predicted from the first token ([CLS]); scored by Spearman's rho";
  static constexpr const char* select = "max dev/spearman";
  static Schema options() { return tasks::TextInput::with_options({}); }
  static TaskFields fields() { return {{"text"}, {"number"}, {"text2"}}; }
  static std::vector<Measure> measures();

  Regress(const Options& options, const TaskContext& context);

  void prepare(const Records& train) override;
  void extend(const Records& other) override;
  std::string knowledge() const override;
  void restore(std::string_view knowledge) override;
  TextCounts text_counts(const Records& train) const override { return texts_.text_counts(train); }

  std::vector<ColumnRule> columns() const override;
  std::vector<OutputRule> outputs() const override;
  void encode(const Records& records, std::size_t record, const Tokenizer& tokenizer,
              EncodedExample& to) const override;
  bool separates_sequences() const override { return texts_.stride() > 0; }
  std::size_t stride_of_vectors() const override { return texts_.stride(); }
  SetDescription describe(const ExampleSet& set) const override;

  void measure(const ExampleSet& set, const Outputs& outputs, Statistics& statistics) const override;
  Records label(const Records& records, const ExampleSet& set, const Outputs& outputs) const override;

  Records from_text(std::span<const std::string> lines) const override { return texts_.from_text(lines); }
  Records answer(const Records& records, const ExampleSet& set, const Outputs& outputs) const override;
  std::string no_scores(std::span<const OutputRule>) const override {
    return "it predicts numbers, and only classes have probabilities";
  }
  std::string left_out(const ExampleSet& set, std::size_t example) const override;

 private:
  double predicted(const ExampleSet& set, const Outputs& outputs, std::size_t example) const;

  tasks::TextInput texts_;
};

}  // namespace encore::regress
