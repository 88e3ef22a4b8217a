// SPDX-License-Identifier: BSD-3-Clause
// The task "lm": causal language modelling (Radford et al. 2018): predicts each token from those before it,
// scored by perplexity and bits per character. Needs a causal model, and a head that gives the best token of
// each row and its loss, such as "language_model". The flow is: records with `text` -> windows of ids with
// the next token as each row's target -> losses -> counts per text, probabilities of what a user types.
// Trainer and inference call it through Task; runs store the names of measures, so these must not change.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <encore/reads_windows.hpp>
#include <encore/task.hpp>

namespace encore::lm {

class Lm final : public Task, public ReadsWindows {
 public:
  static constexpr const char* summary =
      "causal language modelling: each token of a text is predicted from those before it (Radford et al. "
      "2018)";
  static constexpr const char* select = "min dev/perplexity";
  static Schema options();
  static TaskFields fields() { return {{"text"}, {}}; }
  static std::vector<Measure> measures();
  static std::vector<AdoptedModel> adopted() {
    return {{.architecture = "LMHeadModel",
             .head = "language_model",
             .head_options = {"transform = false", "bias = false"},
             .reader = "text_file"}};
  }

  Lm(const Options& options, const TaskContext& context);

  /// Throws Error if the training set has no text. Nothing else is read from it.
  void prepare(const Records& train) override;
  void adopt(const std::vector<std::string>&) override {}  // there are no classes
  /// Returns a constant, because nothing is learned from the training set.
  std::string knowledge() const override;
  void restore(std::string_view knowledge) override;
  /// Counts words together with the white space before them, because generated text must contain blanks.
  TextCounts text_counts(const Records& train) const override;
  /// Returns true: each text is encoded on its own, and there are no labels.
  bool takes_parts() const override { return true; }

  std::vector<ColumnRule> columns() const override;
  std::vector<OutputRule> outputs() const override;
  /// A text is `[start] tokens [end]`, or its tokens alone without `markers`. All of them but the last are
  /// rows, in windows of at most max_length that follow each other, a sequence each; the target of a row is
  /// the token behind it, which may be the first of the next window. So every token but the first is a target
  /// exactly once. Records of from_text begin a text that continues: it has no end, every token is a row, and
  /// the last one has no target. Throws Error if nothing of a text can be predicted.
  void encode(const Records& records, std::size_t record, const Tokenizer& tokenizer,
              EncodedExample& to) const override;
  /// Returns true: the windows of a long text may be in different batches.
  bool separates_sequences() const override { return true; }
  SetDescription describe(const ExampleSet& set) const override;

  void measure(const ExampleSet& set, const Outputs& outputs, Statistics& statistics) const override;
  /// Returns the field "perplexity" of each text; the records have no truth.
  Records label(const Records& records, const ExampleSet& set, const Outputs& outputs) const override;

  Records from_text(std::span<const std::string> lines) const override;
  /// Returns for each line `pieces` (the number of predicted tokens), `log_probability` (natural, their sum),
  /// `perplexity` and `bits_per_character`.
  Records answer(const Records& records, const ExampleSet& set, const Outputs& outputs) const override;
  std::string no_scores(std::span<const OutputRule>) const override {
    return "its answers already have the probability of the text, as log_probability";
  }

 private:
  /// The tokens of a text with its markers, and the number of its predicted characters.
  struct Text {
    std::vector<std::int32_t> tokens;
    std::int32_t characters = 0;
  };
  Text text_of(const std::string& text, bool goes_on, const Tokenizer& tokenizer) const;

  std::size_t max_length_;
  bool markers_;
};

}  // namespace encore::lm
