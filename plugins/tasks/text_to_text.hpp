// TextToText: a text in, another one out, by an encoder and a decoder: what the tasks translate and summarize
// share. They differ in how a text that was written is scored. Place in the flow: records with `source` and
// `target` -> rows of both stacks and what the decoder is to say next -> losses of its tokens, and the texts
// that it writes on its own (Task::decoding) -> statistics and answers.
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
  /// "perplexity" and "accuracy" of the tokens of the target, each predicted with the true ones before it.
  static std::vector<Measure> token_measures();

  /// BART, T5 and their kin, and MarianMTModel; `reader` of files with pairs of texts.
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
  void adopt(const std::vector<std::string>&) override {}  // it tells no classes apart
  std::string knowledge() const override { return name_ + "\n"; }
  void restore(std::string_view knowledge) override;
  /// The words of both sides: they share a vocabulary.
  TextCounts text_counts(const Records& train) const override;

  std::vector<ColumnRule> columns() const override;
  /// The encoder reads the source and the token `end`; the decoder reads the token of target_start and the
  /// target, and is to say the target and `end`. With source_start and target_begins the one and the other
  /// text begin with `start`. What passes max_length is cut at the end of a side. Without a target the
  /// decoder reads what every target begins with.
  void encode(const Records& records, std::size_t record, const Tokenizer& tokenizer,
              EncodedExample& to) const override;
  SetDescription describe(const ExampleSet& set) const override;

  std::vector<OutputRule> outputs() const override;
  /// Scores of texts only where texts were generated.
  void measure(const ExampleSet& set, const Outputs& outputs, Statistics& statistics) const override;
  /// Of a set without generated texts: empty targets.
  Records label(const Records& records, const ExampleSet& set, const Outputs& outputs) const override;
  std::optional<Decoding> decoding() const override { return decoding_; }

  Records from_text(std::span<const std::string> lines) const override;
  /// text, the written text and its score; where several were written also all of them, the best first.
  Records answer(const Records& records, const ExampleSet& set, const Outputs& outputs) const override;
  std::string no_scores(std::span<const OutputRule>) const override {
    return "its answers have a score already, the logarithm of the probability of the text";
  }
  std::string left_out(const ExampleSet& set, std::size_t example) const override;

  bool takes_parts() const override { return true; }

 protected:
  /// `name`: of the task. `written`: what its answers call a text that was written, and all of them.
  TextToText(const Options& options, const TaskContext& context, std::string name, std::string written,
             std::string all_written);

 private:
  /// Adds to the columns of the task's own measures, for the example that was begun.
  virtual void add_scores(std::string_view written, std::string_view reference,
                          Statistics& statistics) const = 0;

  /// The rows of a target that are given.
  std::size_t given() const { return target_begins_ ? 2 : 1; }

  std::size_t max_length_;
  bool source_start_, target_begins_;
  Special target_start_;  ///< the token in front of a target
  std::optional<Decoding> decoding_;
  std::string name_, written_, all_written_;
};

}  // namespace encore::tasks
