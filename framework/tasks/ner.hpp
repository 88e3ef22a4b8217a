// Entity recognition: one label per word in IOB2, scored by exact match of entities.
// Place in the flow: CoNLL sets (data/) or the token cache -> targets -> model -> tags -> ner_score.hpp.
#pragma once

#include <array>
#include <functional>
#include <optional>

#include "tasks/ner_score.hpp"
#include "tasks/ner_sets.hpp"
#include "tasks/task.hpp"

namespace encore {

class NerTask final : public Task {
 public:
  NerTask(const DataTable& data, ContentHashes planned);

  void read() override;
  WordCounts word_counts() override;
  void encode(const Tokenizer& tokenizer, int threads) override;
  bool load_encoded(const TokenCache& cache, const std::string& encoding) override;
  void save_encoded(const TokenCache& cache, const std::string& encoding) override;
  const std::vector<std::string>& labels() const override { return sets_.labels.names(); }
  bool has(Split split) const override { return !path(split).empty(); }
  const EncodedSet& set(Split split) const override { return encoded(split).encoded; }
  Notes notes() const override;
  std::vector<Measure> score(Split split, const Predictions& predictions) const override;
  /// Reads the set's words again when the examples came from the cache.
  void save_predictions(Split split, const Predictions& predictions,
                        const std::filesystem::path& path) const override;

 private:
  static std::size_t index(Split split) { return static_cast<std::size_t>(split); }
  const std::string& path(Split split) const;
  Dataset read(Split split) const;
  const Dataset& require_read(Split split);
  const NerSet& encoded(Split split) const;
  std::string key(const std::string& encoding) const;

  DataTable data_;
  ContentHashes planned_;
  std::array<std::optional<Dataset>, 3> datasets_;  ///< with their words, as far as they were needed
  NerSets sets_;
  Notes cache_notes_;
};

/// The tags of one sentence from the classes of its words.
std::vector<std::string> tags_of(const std::vector<std::int32_t>& classes, const Labels& labels);

/// The score of a set of sentences as measures under `split`: precision, recall, f1, f1_macro,
/// token_accuracy, and precision, recall and f1 of each type.
std::vector<Measure> ner_measures(const std::string& split, const NerScore& score);

/// The score of predictions, sentence by sentence; truth(i) gives the tags of sentence i.
NerScore score_sentences(const std::function<std::vector<std::string>(std::size_t)>& truth,
                         const Predictions& predictions, const Labels& labels);

}  // namespace encore
