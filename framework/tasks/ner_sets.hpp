// NerSets: all that training and scoring need of the sets of an entity recognition task, without a word of
// their text; and its form as tensors, in which the token cache keeps it.
// Place in the flow: Datasets + Tokenizer -> NerSets -> ner.cpp.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "data/conll.hpp"
#include "data/encode.hpp"
#include "record/safetensors.hpp"

namespace encore {

struct NerSet {
  DatasetSummary summary;
  EncodedSet encoded;
  std::span<const std::int32_t> tags;  ///< (words of the set) number of each word's true tag
  std::shared_ptr<const void> owner;   ///< keeps alive what `tags` looks into
};

/// What a task remembers when it has read and encoded its files. Copies share their arrays.
struct NerSets {
  Labels labels;
  std::vector<std::string> tags;  ///< by number: the labels, then the tags that only dev and test hold
  std::array<std::optional<NerSet>, 3> sets;
};

/// The true tags of a set, sentence by sentence, those of words that were cut among them.
class NerTruth {
 public:
  NerTruth(const NerSets& sets, const NerSet& set);
  std::vector<std::string> tags(std::size_t sentence) const;

 private:
  const std::vector<std::string>& names_;
  std::span<const std::int32_t> tags_;
  std::vector<std::size_t> first_word_;  ///< (S + 1)
};

/// Encodes what was read; the label list is that of the training set.
NerSets encode_ner(const std::array<std::optional<Dataset>, 3>& datasets, const Tokenizer& tokenizer,
                   std::int64_t max_length, int threads);

/// The form in a file.
std::vector<TensorSlice> tensors_of(const NerSets& sets);
TensorMetadata metadata_of(const NerSets& sets);
/// The sets look into the file and keep it mapped. Throws Error when it holds something else.
NerSets ner_sets_in(const std::shared_ptr<const Safetensors>& file);

}  // namespace encore
