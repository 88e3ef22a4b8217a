// The task "embed": a vector for each text, so that texts that mean the same lie near each other. It learns
// from pairs: which second text belongs to a first one, or, where pairs have a number, how alike the two are.
// Both texts of a pair are sequences of one example. Place in the flow: records with `text` and `text2`
// (perhaps `number`, the truth) -> two sequences -> two vectors -> their cosine. Read next: similarity.hpp.
#pragma once

#include <string>
#include <vector>

#include <encore/task.hpp>

#include "similarity.hpp"

namespace encore::embed {

class Embed final : public Task {
 public:
  static constexpr const char* summary =
      "a vector for each text, learned from pairs that belong together (Henderson et al. 2017) or from how "
      "alike two texts are (Reimers and Gurevych 2019)";
  static constexpr const char* select = "max dev/mrr";
  static Schema options();
  static TaskFields fields() { return {{"text", "text2"}, {}, {"number"}}; }
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
  /// [CLS] text [SEP], and the same of a second text that is not empty: a line that was typed may have none.
  void encode(const Records& records, std::size_t record, const Tokenizer& tokenizer,
              EncodedExample& to) const override;
  SetDescription describe(const ExampleSet& set) const override;

  void measure(const ExampleSet& set, const Outputs& outputs, Statistics& statistics) const override;
  /// `similarity`, the cosine of each pair, and where numbers were learned `number`.
  Records label(const Records& records, const ExampleSet& set, const Outputs& outputs) const override;

  /// A text, or two with a tab between.
  Records from_text(std::span<const std::string> lines) const override;
  Records answer(const Records& records, const ExampleSet& set, const Outputs& outputs) const override;
  std::string no_scores(std::span<const OutputRule>) const override {
    return "its answers are vectors, which are not right or wrong";
  }
  std::string left_out(const ExampleSet& set, std::size_t example) const override;

 private:
  void add_text(const std::string& text, const Tokenizer& tokenizer, EncodedExample& to) const;

  std::size_t max_length_, candidates_;
  NumberScale scale_;  ///< of the numbers of the training set, where it has any
};

}  // namespace encore::embed
