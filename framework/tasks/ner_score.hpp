// Scoring of entity recognition: exact match of entities, as conlleval and seqeval (default mode) count
// (data/entities.hpp). Place in the flow: tags of words (truth and prediction) -> NerScorer -> metrics
// `dev/f1`, `dev/f1/PER`, ...
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "data/confusion.hpp"
#include "data/entities.hpp"

namespace encore {

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
  Confusion confusion_;
  std::int64_t words_ = 0;
  std::int64_t correct_words_ = 0;
  std::int64_t cut_words_ = 0;
};

}  // namespace encore
