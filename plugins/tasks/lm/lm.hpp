// The task "lm": causal language modelling (Radford et al. 2018): each token of a text is predicted from
// those before it; scored by perplexity and by bits per character. Needs a causal model, and a head that
// gives the best token of each row and its loss, as "language_model" does.
// Place in the flow: records with `text` -> windows of ids, each row with the next token as its target -> the
// head's losses -> counts per text, and the probability of what a user types.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <encore/task.hpp>

namespace encore::lm {

class Lm final : public Task {
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

  /// Throws Error for a training set without any text. Nothing is taken from it.
  void prepare(const Records& train) override;
  /// Nothing is taken from the training set.
  void adopt(const std::vector<std::string>&) override {}  // it tells no classes apart
  std::string knowledge() const override;
  void restore(std::string_view knowledge) override;
  /// Words with the white space in front of them: what is written later has blanks too.
  TextCounts text_counts(const Records& train) const override;
  /// Every text is encoded by itself, and there are no labels.
  bool takes_parts() const override { return true; }

  std::vector<ColumnRule> columns() const override;
  std::vector<OutputRule> outputs() const override;
  /// A text is `[start] tokens [end]`, or its tokens alone without `markers`. All of them but the last are
  /// rows, in windows of at most max_length that follow each other, a sequence each; the target of a row is
  /// the token behind it, which may be the first of the next window. So every token but the first is a target
  /// exactly once. Records of from_text begin a text that goes on: there is no end, every token is a row, and
  /// the last one has no target. Throws Error for a text in which nothing is to be predicted.
  void encode(const Records& records, std::size_t record, const Tokenizer& tokenizer,
              EncodedExample& to) const override;
  /// The windows of a long text may stand in different batches.
  bool separates_sequences() const override { return true; }
  SetDescription describe(const ExampleSet& set) const override;

  void measure(const ExampleSet& set, const Outputs& outputs, Statistics& statistics) const override;
  /// The records have no truth; "perplexity" is that of each text.
  Records label(const Records& records, const ExampleSet& set, const Outputs& outputs) const override;

  Records from_text(std::span<const std::string> lines) const override;
  /// Of each line as it stands: `pieces` that were predicted, `log_probability` (natural) of them together,
  /// `perplexity`, `bits_per_character`.
  Records answer(const Records& records, const ExampleSet& set, const Outputs& outputs) const override;
  std::string no_scores(std::span<const OutputRule>) const override {
    return "its answers name the probability of the text already, as log_probability";
  }

 private:
  /// The tokens of a text with its markers, and how many of its characters are predicted.
  struct Text {
    std::vector<std::int32_t> tokens;
    std::int32_t characters = 0;
  };
  Text text_of(const std::string& text, bool goes_on, const Tokenizer& tokenizer) const;

  std::size_t max_length_;
  bool markers_;
};

}  // namespace encore::lm
