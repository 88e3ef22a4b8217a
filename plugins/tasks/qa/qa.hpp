// SPDX-License-Identifier: BSD-3-Clause
// The task "qa", extractive question answering: finds the part of a context that answers a question, scored
// as SQuAD's scripts do. A question is one example; its sequences are windows of the context, which is longer
// than a model reads. Records with `question`, `context` (and `answers`, the truth) -> windows -> two scores
// per row (head "span") -> the best span -> text. Trainer and inference call it through Task; runs store
// tune() and the names of measures, so these must not change. Read next: answers.hpp, spans.hpp,
// measures.hpp.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <encore/reads_windows.hpp>
#include <encore/task.hpp>

#include "answers.hpp"

namespace encore::qa {

class Qa final : public Task, public ReadsWindows {
 public:
  static constexpr const char* summary =
      "extractive question answering: the model finds the part of a context that answers a question; exact "
      "match and F1 are counted as in the scripts of SQuAD";
  static constexpr const char* select = "max dev/f1";
  static Schema options();
  /// Returns the fields. The task ignores `id`; files of predictions contain it, so that users can join them
  /// with the data.
  static TaskFields fields() {
    return {.structure = {"question", "context"}, .truth = {"answers"}, .optional = {"id"}};
  }
  static std::vector<Measure> measures();
  static std::vector<AdoptedModel> adopted() {
    return {{.architecture = "ForQuestionAnswering", .head = "span", .reader = "squad"}};
  }

  Qa(const Options& options, const TaskContext& context);

  void prepare(const Records& train) override;
  void adopt(const std::vector<std::string>&) override {}  // there are no classes
  std::string knowledge() const override;
  void restore(std::string_view knowledge) override;
  /// Counts words of questions and contexts, separated by white space; each context counts once.
  TextCounts text_counts(const Records& train) const override;

  std::vector<ColumnRule> columns() const override;
  std::vector<OutputRule> outputs() const override;
  /// Encodes [CLS] question [SEP] window [SEP] for each window. `start` and `end` are the rows of the first
  /// true answer; in windows that do not contain all of it both are 0, the row of [CLS].
  void encode(const Records& records, std::size_t record, const Tokenizer& tokenizer,
              EncodedExample& to) const override;
  SetDescription describe(const ExampleSet& set) const override;

  void measure(const ExampleSet& set, const Outputs& outputs, Statistics& statistics) const override;
  Records label(const Records& records, const ExampleSet& set, const Outputs& outputs) const override;

  /// Returns the threshold of no_answer as text, if task.tune_no_answer is on.
  std::string tune(const ExampleSet& dev, const Outputs& outputs) const override;
  void use(std::string_view tuned) override;

  /// Reads a line as a question, a tab and the context.
  Records from_text(std::span<const std::string> lines) const override;
  Records answer(const Records& records, const ExampleSet& set, const Outputs& outputs) const override;
  std::string no_scores(std::span<const OutputRule>) const override { return {}; }
  /// Adds `score`, the probability among all possible answers (score_of), or 1 for a blank question. The
  /// probability in `answer` is a product of two within one window.
  Records scored_answer(const Records& records, const ExampleSet& set, const Outputs& outputs) const override;
  std::string left_out(const ExampleSet& set, std::size_t example) const override;

 private:
  Answer find(const Columns& in, std::size_t example, const Outputs& outputs, double threshold) const;
  double threshold() const { return tuned_.value_or(no_answer_threshold_); }
  /// Finds the answer to each question; a blank question has none.
  std::vector<Answer> find_all(const Records& records, const ExampleSet& set, const Outputs& outputs) const;
  /// Builds the answers. The line that a user sees begins with the text in `shown` for the question.
  static Records answers_of(const Records& records, std::vector<Answer> found, Records::Numbers scores,
                            Records::Texts shown);

  std::size_t max_length_, stride_, max_question_, max_answer_;
  bool no_answer_;
  double no_answer_threshold_;
  bool tunes_;
  std::optional<double> tuned_;
};

}  // namespace encore::qa
