// SPDX-License-Identifier: BSD-3-Clause
// The task "multilabel": any number of labels per text or text pair, each with its own probability, predicted
// from the first row of the sequence ([CLS]). The flow is: records with `text`, perhaps `text2` (and
// `labels`, the truth) -> ids and a 0 or 1 per label -> probabilities (head "sigmoid") -> labels above a
// threshold, and the counts of each text that the measures sum. Trainer and inference call it through Task;
// runs store knowledge() and tune(), so their forms must not change. Read next: text_input.hpp,
// measures.hpp.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <encore/adopts_fields.hpp>
#include <encore/reads_windows.hpp>
#include <encore/task.hpp>

#include "label_names.hpp"
#include "text_input.hpp"

namespace encore::multilabel {

class Multilabel final : public Task, public AdoptsFields, public ReadsWindows {
 public:
  static constexpr const char* summary =
      "any number of labels for each text or text pair; each label has a probability of its own, predicted "
      "from the first token ([CLS])";
  static constexpr const char* select = "max dev/micro_f1";
  static Schema options();
  static TaskFields fields() { return {{"text"}, {"labels"}, {"text2"}}; }
  static std::vector<Measure> measures();
  static std::vector<AdoptedModel> adopted() {
    return {{.architecture = "ForSequenceClassification/multi_label_classification",
             .head = "sigmoid",
             .head_options = {"pooler=true"},
             .reader = "tsv"}};
  }

  Multilabel(const Options& options, const TaskContext& context);

  void prepare(const Records& train) override;
  void extend(const Records& other) override;
  void adopt(const std::vector<std::string>& classes) override {
    names_ = tasks::LabelNames::adopted(classes);
  }
  void adopt_fields(const Records& questions) override { texts_.prepare(questions); }
  std::string knowledge() const override { return texts_.marked(names_.text()); }
  void restore(std::string_view knowledge) override;
  std::vector<std::string> labels() const override { return names_.labels(); }
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

  /// Returns a threshold for each label as text, if task.tune_thresholds is on.
  std::string tune(const ExampleSet& dev, const Outputs& outputs) const override;
  void use(std::string_view tuned) override;

  Records from_text(std::span<const std::string> lines) const override { return texts_.from_text(lines); }
  Records answer(const Records& records, const ExampleSet& set, const Outputs& outputs) const override;
  std::string no_scores(std::span<const OutputRule>) const override { return {}; }
  Records scored_answer(const Records& records, const ExampleSet& set, const Outputs& outputs) const override;
  std::string left_out(const ExampleSet& set, std::size_t example) const override;

 private:
  /// Returns the probability of each label; of several windows the largest of theirs.
  static std::vector<float> scores_of(const ExampleSet& set, const Outputs& outputs, std::size_t example);
  /// Returns the labels above their thresholds, in the order of the label ids.
  std::vector<std::string> above_thresholds(std::span<const float> scores) const;

  float threshold_of(std::size_t label) const { return tuned_.empty() ? threshold_ : tuned_[label]; }

  float threshold_;
  bool tunes_;
  std::vector<float> tuned_;  ///< by label; empty if not tuned
  tasks::TextInput texts_;
  tasks::LabelNames names_;
};

// --- the thresholds of task.tune_thresholds, which Multilabel::tune and use call (thresholds.cpp) ---

/// The probability of a label for one text, and whether the text has the label.
using Judged = std::pair<float, bool>;

/// Returns, for one label, the threshold with the best F1 of `probability > threshold`, halfway between two
/// adjacent probabilities. Of equally good ones it takes the nearest to `usual`, then the larger. Returns
/// `usual` if no text has the label.
float best_threshold(std::vector<Judged> texts, float usual);

/// Returns a line such as "0.31 joy" for each label, which a run stores and from which equal bits are read
/// back. Its form must not change.
std::string thresholds_text(const std::vector<float>& thresholds, const std::vector<std::string>& labels);
/// Reads the thresholds of these labels. Throws Error if the text is for other labels.
std::vector<float> thresholds_from_text(std::string_view text, const std::vector<std::string>& labels);

}  // namespace encore::multilabel
