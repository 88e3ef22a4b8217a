// SPDX-License-Identifier: BSD-3-Clause
// The task "embed": a vector for each text, near those of similar meaning. It learns from pairs: which second
// text belongs to a first one, or, if pairs have a number, how similar they are. The flow is: records with
// `text` and `text2` (perhaps `number`, the truth) -> two sequences of one example -> two vectors (head
// "embedding") -> their cosine. An example may have further sequences: inputs that do not belong to the first
// one (hard_negatives.hpp, or the field `negatives`), and the windows of a long input (input_places.hpp).
// Trainer and inference call the task through Task; runs store knowledge() and the names of measures, so
// these must not change. Read next: similarity.hpp.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <encore/reads_windows.hpp>
#include <encore/task.hpp>

#include "hard_negatives.hpp"
#include "similarity.hpp"

namespace encore::embed {

class Embed final : public Task, public ReadsWindows {
 public:
  static constexpr const char* summary =
      "a vector for each text, learned from pairs that belong together (Henderson et al. 2017) or from a "
      "number for the similarity of each pair (Reimers and Gurevych 2019); with numbers, set `train.select`, "
      "such as \"max dev/spearman\"";
  static constexpr const char* select = "max dev/mrr";
  static Schema options();
  static TaskFields fields() { return {{"text", "text2"}, {}, {"number", "negatives"}}; }
  static std::vector<Measure> measures();
  static std::vector<AdoptedModel> adopted() {
    return {{.architecture = "Model", .head = "embedding", .reader = "tsv"}};
  }

  Embed(const Options& options, const TaskContext& context);

  void prepare(const Records& train) override;
  void extend(const Records& other) override;
  void adopt(const std::vector<std::string>& classes) override;
  std::string knowledge() const override;
  void restore(std::string_view knowledge) override;
  TextCounts text_counts(const Records& train) const override;

  std::vector<ColumnRule> columns() const override;
  std::vector<OutputRule> outputs() const override;
  /// Encodes [CLS] text [SEP], and likewise a second text unless it is empty: a typed line may lack it. Then
  /// come the negatives of the record, and those that prepare() has found for its first text. With a stride
  /// each of them may have several windows.
  void encode(const Records& records, std::size_t record, const Tokenizer& tokenizer,
              EncodedExample& to) const override;
  std::size_t windows(const ExampleSet& set, std::size_t example) const override;
  std::size_t stride_of_vectors() const override { return stride_; }
  SetDescription describe(const ExampleSet& set) const override;

  void measure(const ExampleSet& set, const Outputs& outputs, Statistics& statistics) const override;
  /// Returns the fields `similarity`, the cosine of each pair, and `number` if numbers were learned.
  Records label(const Records& records, const ExampleSet& set, const Outputs& outputs) const override;

  /// Reads a line as one text, or as two with a tab between.
  Records from_text(std::span<const std::string> lines) const override;
  Records answer(const Records& records, const ExampleSet& set, const Outputs& outputs) const override;
  std::string no_scores(std::span<const OutputRule>) const override {
    return "its answers are vectors, which have no probability";
  }
  std::string left_out(const ExampleSet& set, std::size_t example) const override;

 private:
  void require_no_negatives(const Records& train) const;
  std::vector<std::string> texts_of(const Records& records, std::size_t record) const;
  /// Appends the sequences of an input; add_columns() is called for each, with whether it is the first.
  void add_text(const std::string& text, const Tokenizer& tokenizer, EncodedExample& to,
                const std::function<void(bool)>& add_columns) const;
  /// Returns the index of the columns that are there with a stride: the number of the window, its own tokens.
  std::size_t window_columns() const { return scale_.is_known() ? 5 : 4; }

  std::size_t max_length_, candidates_, mined_;
  std::size_t stride_;       ///< tokens that windows share; 0: long inputs are cut
  HardNegatives negatives_;  ///< of the training set, until the task is restored
  NumberScale scale_;        ///< of the numbers of the training set, if it has numbers
};

}  // namespace encore::embed
