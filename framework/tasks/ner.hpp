// Entity recognition: one label per word in IOB2, scored by exact match of entities.
// Place in the flow: CoNLL sets (data/) -> targets -> model -> tags -> ner_score.hpp.
#pragma once

#include <array>
#include <optional>

#include "data/conll.hpp"
#include "tasks/ner_score.hpp"
#include "tasks/task.hpp"

namespace encore {

class NerTask final : public Task {
 public:
  explicit NerTask(const DataTable& data);

  const std::vector<std::string>& labels() const override { return labels_.names(); }
  WordCounts word_counts() const override;
  void encode(const Tokenizer& tokenizer) override;
  bool has(Split split) const override { return sets_[index(split)].has_value(); }
  const EncodedSet& set(Split split) const override { return encoded_[index(split)]; }
  std::vector<std::string> notes() const override;
  std::vector<Measure> score(Split split, const Predictions& predictions) const override;
  void save_predictions(Split split, const Predictions& predictions,
                        const std::filesystem::path& path) const override;

 private:
  static std::size_t index(Split split) { return static_cast<std::size_t>(split); }

  std::int64_t max_length_;
  std::array<std::optional<Dataset>, 3> sets_;
  std::array<EncodedSet, 3> encoded_;
  Labels labels_;
};

/// The tags of one sentence from the classes of its words.
std::vector<std::string> tags_of(const std::vector<std::int32_t>& classes, const Labels& labels);

/// The score of a set of sentences as measures under `split`: precision, recall, f1, f1_macro,
/// token_accuracy, and precision, recall and f1 of each type.
std::vector<Measure> ner_measures(const std::string& split, const NerScore& score);

/// The score of predictions, sentence by sentence.
NerScore score_sentences(std::span<const Sentence> sentences, const Predictions& predictions,
                         const Labels& labels);

}  // namespace encore
