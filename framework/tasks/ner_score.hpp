// Scoring of entity recognition: exact match of entities, as conlleval and seqeval (default mode) count.
// Place in the flow: tags of words (truth and prediction) -> NerScorer -> metrics `dev/f1`, `dev/f1/PER`,
// ...; predict uses ner_entities to turn tags into spans.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace encore {

/// Words [begin, end) that form one entity.
struct NerEntity {
  std::string type;
  std::int64_t begin = 0;
  std::int64_t end = 0;

  auto operator<=>(const NerEntity&) const = default;
};

/// The entities of one sentence's tags (IOB1, IOB2 or BIOES, malformed ones too: an I- after O or after
/// another type starts an entity), in the order of the words.
std::vector<NerEntity> ner_entities(std::span<const std::string> tags);

/// Counts of one type, or of all. Fractions are in [0, 1]; where there is nothing to divide by, 0.
struct NerCounts {
  std::int64_t truth = 0;
  std::int64_t predicted = 0;
  std::int64_t correct = 0;

  double precision() const;
  double recall() const;
  double f1() const;
};

struct NerScore {
  std::map<std::string, NerCounts> types;  ///< types that stand in the truth or in the predictions
  NerCounts micro;                         ///< summed over the types
  double macro_precision = 0.0;            ///< mean over `types`
  double macro_recall = 0.0;
  double macro_f1 = 0.0;
  std::int64_t words = 0;
  std::int64_t correct_words = 0;  ///< words whose tag is right
  std::int64_t cut_words = 0;      ///< words without a prediction, counted as O

  /// Words by the type of their tag: confusion[truth][predicted], both numbered as in `confusion_names`, O
  /// first.
  std::vector<std::string> confusion_names;
  std::vector<std::vector<std::int64_t>> confusion;

  double token_accuracy() const;
  /// Aligned text for people: one row per type, then micro and macro, in percent.
  std::string table() const;
};

/// Collects sentences. Predictions may be shorter than the truth (the words max_length cut): the rest counts
/// as O.
class NerScorer {
 public:
  void add(std::span<const std::string> truth, std::span<const std::string> predicted);
  NerScore score() const;

 private:
  std::map<std::string, NerCounts> types_;
  std::map<std::pair<std::string, std::string>, std::int64_t> confusion_;
  std::int64_t words_ = 0;
  std::int64_t correct_words_ = 0;
  std::int64_t cut_words_ = 0;
};

}  // namespace encore
