// SPDX-License-Identifier: BSD-3-Clause
// Helpers of mlm_test.cpp and mlm_pairs_test.cpp, the tests of the task "mlm" (plugins/tasks/mlm/mlm.hpp): a
// vocabulary of letters, the task with its options, and readers of its example sets. Both tests compare token
// numbers, so the order of the vocabulary must not change.
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <encore/testing.hpp>

#include "data/encode.hpp"
#include "mlm/mlm.hpp"
#include "wordpiece.hpp"

namespace encore::mlm {

using Values = std::vector<std::int32_t>;
using Texts = Records::Texts;

inline constexpr std::int32_t cls = 2, sep = 3, mask = 4, first_ordinary = 5;

/// Returns the vocabulary: [PAD] [UNK] [CLS] [SEP] [MASK], the letters a to z from number 5 on, "##a" to
/// "##z" from 31 on, and a full stop.
inline std::vector<std::string> vocabulary() {
  std::vector<std::string> tokens = {"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"};
  for (const char* before : {"", "##"})
    for (char letter = 'a'; letter <= 'z'; ++letter) tokens.push_back(std::string(before) + letter);
  tokens.emplace_back(".");
  return tokens;
}

inline wordpiece::WordPiece make_tokenizer(std::vector<std::string> tokens = vocabulary()) {
  wordpiece::WordPiece tokenizer(options_with<wordpiece::WordPiece>("vocab", std::string("none")), {});
  tokenizer.load(std::move(tokens));
  return tokenizer;
}

struct Settings {
  std::int64_t max_length = 64;
  double probability = 0.15;
  bool whole_word = false;
  bool next_sentence = false;
};

inline std::unique_ptr<Mlm> make(const Settings& settings = {}) {
  Options options;
  options.set("probability", settings.probability);
  options.set("whole_word", settings.whole_word);
  options.set("next_sentence", settings.next_sentence);
  return std::make_unique<Mlm>(options, TaskContext{settings.max_length});
}

inline Records records_of(Texts texts) {
  Records records;
  records.add("text", std::move(texts));
  return records;
}

inline ExampleSet encode(const Mlm& task, Texts texts, std::int64_t max_length = 64) {
  return data::encode_records(task, records_of(std::move(texts)), make_tokenizer(), max_length);
}

inline Values numbers(std::span<const std::int32_t> values) {
  return {values.begin(), values.end()};
}
/// Returns the values of a column for a sequence.
inline Values column(const ExampleSet& set, const std::string& name, std::size_t sequence) {
  return numbers(set.integers(set.column(name), sequence));
}
inline Values picked(const ExampleSet& set, std::size_t sequence) {
  return column(set, "picked", sequence);
}
inline Values targets(const ExampleSet& set, std::size_t sequence) {
  return column(set, "targets", sequence);
}

/// Returns the ids of a sequence before anything was masked.
inline Values unmasked(const ExampleSet& set, std::size_t sequence) {
  Values ids = numbers(set.ids(sequence));
  const Values rows = picked(set, sequence), truth = targets(set, sequence);
  for (std::size_t m = 0; m < rows.size(); ++m) ids[static_cast<std::size_t>(rows[m])] = truth[m];
  return ids;
}

/// Returns "a b c a b c ..." with `count` words, from the letter with this number on.
inline std::string words(std::size_t count, std::size_t first = 0) {
  std::string text;
  for (std::size_t i = 0; i < count; ++i)
    text += std::string(i > 0 ? " " : "") + static_cast<char>('a' + (first + i) % 26);
  return text;
}

/// Returns an example as the packer passes it to redraw().
inline EncodedExample example_of(const ExampleSet& set, std::size_t example) {
  EncodedExample copy;
  copy.columns.resize(set.columns().size());
  const Run of = set.sequences(example);
  for (std::size_t s = of.first; s < of.first + of.count; ++s) {
    copy.ids.insert(copy.ids.end(), set.ids(s).begin(), set.ids(s).end());
    for (std::size_t c = 0; c < copy.columns.size(); ++c) {
      const std::span<const std::int32_t> values = set.integers(c, s);
      copy.integers(c).insert(copy.integers(c).end(), values.begin(), values.end());
    }
    copy.end_sequence();
  }
  return copy;
}

}  // namespace encore::mlm
