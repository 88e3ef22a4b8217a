// SPDX-License-Identifier: BSD-3-Clause
// The task "tag": one label for each word, such as its part of speech, morphology or language, scored word by
// word (entities of several words are the task "ner"). The flow is: records with `words` (and `tags`, the
// truth) -> ids and targets -> classes of rows -> labels of words, counts per sentence. Trainer and inference
// call it through Task; runs store knowledge() and the names of measures, so these must not change. Read
// next: word_labels.hpp, class_measures.hpp.
#pragma once

#include <string>
#include <vector>

#include <encore/reads_windows.hpp>
#include <encore/task.hpp>

#include "word_labels.hpp"

namespace encore::tag {

class Tag final : public Task, public ReadsWindows {
 public:
  static constexpr const char* summary =
      "one label for each word, such as its part of speech, predicted from the first token of the word; "
      "scored by accuracy";
  static constexpr const char* select = "max dev/accuracy";
  static Schema options() { return tasks::WordLabels::with_options({}); }
  static TaskFields fields() { return {{"words"}, {"tags"}}; }
  static std::vector<Measure> measures();
  static std::vector<AdoptedModel> adopted() {
    return {{.architecture = "ForTokenClassification/labels", .head = "linear", .reader = "conll"}};
  }

  Tag(const Options& options, const TaskContext& context);

  void prepare(const Records& train) override;
  void adopt(const std::vector<std::string>& classes) override { words_.adopt(classes); }
  void extend(const Records& other) override;
  std::string knowledge() const override { return words_.knowledge(); }
  void restore(std::string_view knowledge) override { words_.restore(knowledge); }
  std::vector<std::string> labels() const override { return words_.names().labels(); }
  TextCounts text_counts(const Records& train) const override { return words_.text_counts(train); }

  std::vector<ColumnRule> columns() const override { return words_.columns(); }
  std::vector<OutputRule> outputs() const override { return {words_.output()}; }
  void encode(const Records& records, std::size_t record, const Tokenizer& tokenizer,
              EncodedExample& to) const override {
    words_.encode(records, record, tokenizer, to);
  }
  std::size_t stride_of_vectors() const override { return words_.stride(); }
  SetDescription describe(const ExampleSet& set) const override;

  void measure(const ExampleSet& set, const Outputs& outputs, Statistics& statistics) const override;
  Records label(const Records& records, const ExampleSet& set, const Outputs& outputs) const override;

  Records from_text(std::span<const std::string> lines) const override { return words_.from_text(lines); }
  Records answer(const Records& records, const ExampleSet& set, const Outputs& outputs) const override;
  std::string no_scores(std::span<const OutputRule> given) const override { return words_.no_scores(given); }
  Records scored_answer(const Records& records, const ExampleSet& set, const Outputs& outputs) const override;
  std::string left_out(const ExampleSet& set, std::size_t example) const override {
    return words_.left_out(set, example, "no label is given to");
  }

 private:
  std::int64_t max_length_;
  tasks::WordLabels words_;
};

}  // namespace encore::tag
