// SPDX-License-Identifier: BSD-3-Clause
// Encodes the records of a data set (encode_records, called by tasks/task_sets.cpp): several threads encode
// parts of the set, which are joined in order, so the number of threads has no effect. Results of runs depend
// on the order of the examples, so it must stay that of the records. Read encode.hpp first.
#include "data/encode.hpp"

#include <algorithm>

#include <encore/target_tokenizer.hpp>

#include "base/parallel.hpp"

namespace encore::data {
namespace {

/// The number of records that a thread takes at once.
constexpr std::int64_t records_per_part = 1024;

template <class T>
void join(std::vector<T>& to, const std::vector<T>& from) {
  to.insert(to.end(), from.begin(), from.end());
}

/// Appends the lengths of sequences that end at these places.
void append_lengths(const std::vector<std::int32_t>& ends, std::vector<std::int32_t>& lengths) {
  std::int32_t begin = 0;
  for (const std::int32_t end : ends) {
    lengths.push_back(end - begin);
    begin = end;
  }
}

/// Holds the arrays of a set while they grow.
struct Storage {
  std::vector<std::int32_t> lengths, ids, target_lengths, target_ids, sequences;
  std::vector<EncodedExample::Column> columns;  ///< counts: values per sequence

  void append(const EncodedExample& example) {
    append_lengths(example.ends, lengths);
    append_lengths(example.target_ends, target_lengths);
    join(ids, example.ids);
    join(target_ids, example.target_ids);
    sequences.push_back(static_cast<std::int32_t>(example.ends.size()));
    for (std::size_t i = 0; i < columns.size(); ++i) {
      join(columns[i].integers, example.columns[i].integers);
      join(columns[i].numbers, example.columns[i].numbers);
      append_lengths(example.columns[i].counts, columns[i].counts);
    }
  }

  void append(const Storage& other) {
    join(lengths, other.lengths);
    join(ids, other.ids);
    join(target_lengths, other.target_lengths);
    join(target_ids, other.target_ids);
    join(sequences, other.sequences);
    for (std::size_t i = 0; i < columns.size(); ++i) {
      join(columns[i].integers, other.columns[i].integers);
      join(columns[i].numbers, other.columns[i].numbers);
      join(columns[i].counts, other.columns[i].counts);
    }
  }

  ExampleArrays arrays(const std::vector<ColumnRule>& rules) const {
    ExampleArrays arrays = {.lengths = lengths, .ids = ids};
    if (!target_ids.empty()) {
      arrays.target_lengths = target_lengths;
      arrays.target_ids = target_ids;
    }
    if (std::ranges::any_of(sequences, [](std::int32_t count) { return count != 1; }))
      arrays.sequences = sequences;
    for (std::size_t i = 0; i < rules.size(); ++i) {
      const EncodedExample::Column& column = columns[i];
      const bool ragged = rules[i].space == Space::ragged;
      if (rules[i].truth && !ragged && column.integers.empty() && column.numbers.empty() && !lengths.empty())
        continue;  // there is no truth
      arrays.columns.push_back(
          {rules[i], column.integers, column.numbers,
           ragged ? std::span<const std::int32_t>(column.counts) : std::span<const std::int32_t>()});
    }
    return arrays;
  }
};

/// Checks the numbers of a record against the set and the vocabulary.
class Check {
 public:
  Check(const std::vector<ColumnRule>& rules, std::int64_t max_length, const Tokenizer& tokenizer)
      : rules_(rules),
        max_length_(max_length),
        tokens_(tokenizer.vocabulary().size()),
        target_tokens_(target_tokenizer_of(tokenizer).vocabulary().size()) {}

  void operator()(const EncodedExample& example, std::size_t number) const {
    const std::string of_record = " for record " + std::to_string(number);
    require_sequences(example.ends, example.ids.size(), "ids", 1, of_record);
    require_sequences(example.target_ends, example.target_ids.size(), "ids of the second text",
                      example.target_ids.empty() ? 0 : 1, of_record);
    require_ids(example.ids, tokens_, of_record);
    require_ids(example.target_ids, target_tokens_, of_record);
    if (example.columns.size() != rules_.size())
      throw Error("the task gives " + std::to_string(example.columns.size()) + " columns" + of_record +
                  " and declares " + std::to_string(rules_.size()));
    for (std::size_t i = 0; i < rules_.size(); ++i) require_fits(example, i, of_record);
  }

 private:
  static void require_ids(const std::vector<std::int32_t>& ids, std::size_t tokens,
                          const std::string& of_record) {
    for (const std::int32_t id : ids)
      if (tokens > 0 && (id < 0 || static_cast<std::size_t>(id) >= tokens))
        throw Error("the task gives the id " + std::to_string(id) + of_record + ", and the vocabulary has " +
                    std::to_string(tokens) + " tokens");
  }

  void require_sequences(const std::vector<std::int32_t>& ends, std::size_t count, const char* what,
                         std::int64_t least, const std::string& of_record) const {
    std::vector<std::int32_t> lengths;
    append_lengths(ends, lengths);
    for (const std::int32_t length : lengths)
      if (length < least || length > max_length_)
        throw Error("the task gives " + std::to_string(length) + " " + what + of_record +
                    "; it must be at least 1 and at most data.max_length = " + std::to_string(max_length_));
    ENCORE_REQUIRE(!ends.empty() && static_cast<std::size_t>(ends.back()) == count,
                   "the last sequence of an example is closed");
  }

  void require_fits(const EncodedExample& example, std::size_t i, const std::string& of_record) const {
    const ColumnRule& rule = rules_[i];
    const EncodedExample::Column& column = example.columns[i];
    const std::size_t given = column.integers.size() + column.numbers.size();
    if (rule.type == ColumnType::integers ? !column.numbers.empty() : !column.integers.empty())
      throw Error("the task gives the column \"" + rule.name + "\"" + of_record + " values of another type");
    if (rule.space == Space::ragged || (rule.truth && given == 0)) return;
    const std::size_t rows = rule.space == Space::tokens      ? example.ids.size()
                             : rule.space == Space::target    ? example.target_ids.size()
                             : rule.space == Space::sequences ? example.ends.size()
                                                              : picked(example, rule, of_record);
    const std::size_t expected = rows * static_cast<std::size_t>(rule.width);
    if (given != expected)
      throw Error("the task gives " + std::to_string(given) + " values of column \"" + rule.name + "\"" +
                  of_record + ", which needs " + std::to_string(expected));
  }

  std::size_t picked(const EncodedExample& example, const ColumnRule& rule,
                     const std::string& of_record) const {
    for (std::size_t i = 0; i < rules_.size(); ++i)
      if (rules_[i].name == picked_column) return example.columns[i].integers.size();
    throw Error("the task has no column \"picked\"" + of_record +
                ", which says over what rows the column \"" + rule.name + "\" is");
  }

  const std::vector<ColumnRule>& rules_;
  std::int64_t max_length_;
  /// The numbers of tokens of the two sides. 0: the tokenizer has no vocabulary yet, ids are not checked.
  std::size_t tokens_, target_tokens_;
};

}  // namespace

ExampleSet encode_records(const Task& task, const Records& records, const Tokenizer& tokenizer,
                          std::int64_t max_length, int threads, std::size_t earlier) {
  const std::vector<ColumnRule> rules = task.columns();
  const Check check(rules, max_length, tokenizer);
  const auto count = static_cast<std::int64_t>(records.size());
  std::vector<Storage> parts(static_cast<std::size_t>((count + records_per_part - 1) / records_per_part));
  run_parts(static_cast<std::int64_t>(parts.size()), threads, [&](std::int64_t index) {
    Storage& part = parts[static_cast<std::size_t>(index)];
    part.columns.resize(rules.size());
    EncodedExample example;
    example.columns.resize(rules.size());
    const std::int64_t first = index * records_per_part;
    for (std::int64_t i = first; i < std::min(first + records_per_part, count); ++i) {
      const std::size_t number = earlier + static_cast<std::size_t>(i) + 1;
      example.clear();
      try {
        task.encode(records, static_cast<std::size_t>(i), tokenizer, example);
      } catch (const Error& error) {
        throw RefusedRecord("record " + std::to_string(number) + ": " + error.what());
      }
      if (example.ends.empty()) example.end_sequence();
      check(example, number);
      part.append(example);
    }
  });
  const auto all = std::make_shared<Storage>();
  all->columns.resize(rules.size());
  for (Storage& part : parts) {
    all->append(part);
    part = {};
  }
  return {all->arrays(rules), all};
}

}  // namespace encore::data
