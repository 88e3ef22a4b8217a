// TextToText: a text in, another one out, by an encoder and a decoder: what the tasks translate and summarize
// share. They differ in how a text that was written is scored. Place in the flow: records with `source` and
// `target` -> rows of both stacks and what the decoder is to say next -> losses of its pieces, and the texts
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
  /// "perplexity" and "accuracy" of the pieces of the target, each predicted with the true ones before it.
  static std::vector<Measure> piece_measures();

  void prepare(const Records& train) override;
  std::string knowledge() const override { return name_ + "\n"; }
  void restore(std::string_view knowledge) override;
  /// The words of both sides: they share a vocabulary.
  TextCounts text_counts(const Records& train) const override;

  std::vector<ColumnRule> columns() const override;
  /// The encoder reads the source and the piece `end`; the decoder reads `start` and the target, and is to
  /// say the target and `end`. What passes max_length is cut at the end of a side. Without a target the
  /// decoder reads `start` alone.
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

  std::size_t max_length_;
  std::optional<Decoding> decoding_;
  std::string name_, written_, all_written_;
};

}  // namespace encore::tasks
