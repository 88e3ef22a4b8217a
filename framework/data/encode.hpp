// Sentences to numbers: [CLS] pieces [SEP], the label on the first piece of each word.
// Place in the flow: Dataset (conll.hpp) + Tokenizer + Labels -> examples -> batches.hpp.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <encore/tokenizer.hpp>

#include "data/conll.hpp"
#include "data/labels.hpp"

namespace encore {

/// One sentence as the model sees it; T rows. Looks into the arrays of the set that holds it.
struct Example {
  std::span<const std::int32_t> ids;           ///< (T) pieces with [CLS] and [SEP]
  std::span<const std::int32_t> targets;       ///< (T) label on the first piece of a word, -1 elsewhere
  std::span<const std::int32_t> first_pieces;  ///< row of the first piece of each word that was kept
  std::int32_t cut_words = 0;                  ///< words at the end that did not fit
};

/// The examples of a set one behind the other: S examples, N rows.
struct ExampleArrays {
  std::span<const std::int32_t> rows;          ///< (S) T of each example
  std::span<const std::int32_t> kept_words;    ///< (S)
  std::span<const std::int32_t> cut_words;     ///< (S)
  std::span<const std::int32_t> ids;           ///< (N)
  std::span<const std::int32_t> targets;       ///< (N)
  std::span<const std::int32_t> first_pieces;  ///< (sum of kept_words)
};

/// What `max_length` cost and what the labels lack.
struct EncodeReport {
  std::int64_t rows = 0;     ///< sum of T
  std::int64_t longest = 0;  ///< largest T
  std::int64_t pieces = 0;   ///< rows without [CLS] and [SEP]
  std::int64_t unknown_pieces = 0;
  std::int64_t cut_sentences = 0;
  std::int64_t cut_words = 0;
  std::int64_t cut_entities = 0;  ///< entities that lost a word or all; they count as missed
  std::map<std::string, std::int64_t> unseen_entities;  ///< type -> entities whose label the list lacks

  /// One line such as "3 of 1287 sentences are longer than max_length = 64: 41 words cut, 2 entities will be
  /// missed", empty when nothing was cut.
  std::string cut_message(std::int64_t sentences, std::int64_t max_length) const;
  /// Takes in what was counted for other sentences.
  void add(const EncodeReport& other);
};

/// Copies share what they look into.
struct EncodedSet {
  EncodedSet() = default;
  /// `owner` keeps alive what the arrays look into. Throws Error when they do not add up.
  EncodedSet(const ExampleArrays& arrays, EncodeReport report, std::shared_ptr<const void> owner);

  std::vector<Example> examples;  ///< in the order of the sentences
  ExampleArrays arrays;
  EncodeReport report;
  std::shared_ptr<const void> owner;

  std::vector<std::int32_t> lengths() const;  ///< T of each example
};

/// Cuts before the word that would pass max_length - 1 rows, so that [SEP] still fits. A word without any
/// piece (a lone control character) becomes [UNK]. Tags the list lacks get the target -1. The number of
/// threads changes nothing but the time.
EncodedSet encode_sentences(std::span<const Sentence> sentences, const Tokenizer& tokenizer,
                            const Labels& labels, std::int64_t max_length, int threads = 1);

/// Texts of words without tags, as in prediction; all targets of first pieces are 0 so that they mark the
/// rows to decode.
EncodedSet encode_words(std::span<const std::vector<std::string>> texts, const Tokenizer& tokenizer,
                        std::int64_t max_length);

}  // namespace encore
