// SPDX-License-Identifier: BSD-3-Clause
// TextToText: the base class of the tasks translate and summarize, which generate a text from a text with an
// encoder and a decoder. They differ in the scores of generated text. The flow is: records with `source` and
// `target` -> rows of both stacks, targets of the decoder -> losses, and text that the model generates
// (Task::decoding) -> statistics and answers. Trainer and inference call it through Task. Trained models
// depend on the special tokens around source and target, so their order must not change.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <encore/task.hpp>

namespace encore::tasks {

class TextToText : public Task {
 public:
  static Schema options();
  static TaskFields fields() { return {.structure = {"source"}, .truth = {"target"}}; }
  /// Returns "perplexity" and "accuracy" of target tokens, each predicted from the true ones before it.
  static std::vector<Measure> token_measures();

  /// Lists models that can be imported: BART, T5 and similar ones, and MarianMTModel. `reader` reads files of
  /// text pairs.
  static std::vector<AdoptedModel> adopted_by(const std::string& reader) {
    std::vector<AdoptedModel> models;
    for (const char* architecture : {"ForConditionalGeneration", "MTModel"})
      models.push_back({.architecture = architecture,
                        .head = "language_model",
                        .head_options = {"transform = false"},
                        .reader = reader});
    return models;
  }

  void prepare(const Records& train) override;
  void adopt(const std::vector<std::string>&) override {}  // there are no classes
  std::string knowledge() const override { return name_ + "\n"; }
  void restore(std::string_view knowledge) override;
  /// Counts the words of both sides, which share a vocabulary.
  TextCounts text_counts(const Records& train) const override;

  std::vector<ColumnRule> columns() const override;
  /// The encoder reads the source and the token `end`; the decoder reads the token of target_start and the
  /// target, and predicts the target and `end`. source_start and target_begins put `start` in front of the
  /// source and the target. What exceeds max_length is cut at the end of a side. Without a target the decoder
  /// reads what every target begins with.
  void encode(const Records& records, std::size_t record, const Tokenizer& tokenizer,
              EncodedExample& to) const override;
  SetDescription describe(const ExampleSet& set) const override;

  std::vector<OutputRule> outputs() const override;
  /// Scores generated text, if there is any.
  void measure(const ExampleSet& set, const Outputs& outputs, Statistics& statistics) const override;
  /// Returns empty targets as labels, for a set without generated text.
  Records label(const Records& records, const ExampleSet& set, const Outputs& outputs) const override;
  std::optional<Decoding> decoding() const override { return decoding_; }

  Records from_text(std::span<const std::string> lines) const override;
  /// Returns the generated text and its score; if several were generated also all of them, the best first.
  Records answer(const Records& records, const ExampleSet& set, const Outputs& outputs) const override;
  std::string no_scores(std::span<const OutputRule>) const override {
    return "its answers already have a score, the logarithm of the probability of the text";
  }
  std::string left_out(const ExampleSet& set, std::size_t example) const override;

  bool takes_parts() const override { return true; }

 protected:
  /// `name`: that of the task. `written` and `all_written`: the fields of the best generated text and of all
  /// of them.
  TextToText(const Options& options, const TaskContext& context, std::string name, std::string written,
             std::string all_written);

 private:
  /// Adds the current example to the columns of the task's own measures.
  virtual void add_scores(std::string_view written, std::string_view reference,
                          Statistics& statistics) const = 0;

  /// Returns the number of tokens in front of a target's text, which generation is given. The second one is
  /// `start`: losses and measures count it as predicted.
  std::size_t given() const { return target_begins_ ? 2 : 1; }

  std::size_t max_length_;
  bool source_start_, target_begins_;
  Special target_start_;  ///< the token before a target
  std::optional<Decoding> decoding_;
  std::string name_, written_, all_written_;
};

}  // namespace encore::tasks
