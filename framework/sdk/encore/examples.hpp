// SPDX-License-Identifier: BSD-3-Clause
// ExampleSet holds the records of a data set as numbers: token ids, and columns that the task fills. The host
// stores, caches, packs and uploads columns without knowing their meaning; heads and the task read them by
// name. Task::encode fills one EncodedExample for each record, the host makes an ExampleSet and batches of
// them, and the model computes Outputs (outputs.hpp). An example is the smallest group of sequences that
// belong together: one text, the two parts of a pair, or the windows of a document. train.batch_size counts
// examples, and no example is ever divided. It is part of the ABI of plugins: a change needs a new
// ENCORE_SDK_VERSION (plugin.hpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <encore/error.hpp>
#include <encore/shape.hpp>

namespace encore {

enum class ColumnType : std::uint8_t { integers, numbers };  ///< int32 or float32

struct ColumnRule {
  std::string name;
  Space space = Space::tokens;
  ColumnType type = ColumnType::integers;
  /// Truth columns stay empty where the records have no truth (prediction); no head may need one to decode.
  bool truth = false;
  std::int64_t width = 1;  ///< values per row; 1 for `picked_column` and over `ragged`

  friend bool operator==(const ColumnRule&, const ColumnRule&) = default;
};

/// The value that a row without a target has in a column of integers. Rows that only fill up a batch
/// (train.batching = "padded") have it too; in columns of float32 they have 0.
inline constexpr std::int32_t no_target = -1;
/// By convention, the name of the column with the classes that a classifying head learns.
inline constexpr const char* targets_column = "targets";
/// A column of float32 over the same space, 0 where there is no target: how much each target counts in the
/// loss. A head that learns `targets` multiplies each row's loss by it and normalizes by it. If a task has
/// this column, the host refuses a model whose head does not read it.
inline constexpr const char* weights_column = "weights";
/// A column over `ragged`: the rows of its sequence that are the space `picked`, ascending.
inline constexpr const char* picked_column = "picked";
/// A column of integers over `tokens`, for tasks whose sequences join two sentences: 0 on the rows of the
/// first one and its markers, 1 on those of the second. A model with `model.segments` embeds it; the others
/// ignore it.
inline constexpr const char* segments_column = "segments";

/// One record as the model sees it. The vectors come empty and keep their memory from record to record.
struct EncodedExample {
  struct Column {
    std::vector<std::int32_t> integers;
    std::vector<float> numbers;
    std::vector<std::int32_t> counts;  ///< values up to the end of each sequence that end_sequence() closed
  };

  std::vector<std::int32_t> ids;  ///< (N) numbers of tokens, sequence behind sequence
  std::vector<std::int32_t>
      target_ids;               ///< (N2) the same of the row set `target`, for tasks with a second text
  std::vector<Column> columns;  ///< one per rule of Task::columns()
  std::vector<std::int32_t> ends, target_ends;  ///< of each sequence that end_sequence() closed

  std::vector<std::int32_t>& integers(std::size_t column) { return columns[column].integers; }
  std::vector<float>& numbers(std::size_t column) { return columns[column].numbers; }
  /// Ends a sequence: the numbers that were written since the last call belong to it, and more sequences
  /// follow. An example of one sequence does not need the call.
  void end_sequence() {
    ends.push_back(static_cast<std::int32_t>(ids.size()));
    target_ends.push_back(static_cast<std::int32_t>(target_ids.size()));
    for (Column& column : columns)
      column.counts.push_back(static_cast<std::int32_t>(column.integers.size() + column.numbers.size()));
  }
  void clear() {
    for (std::vector<std::int32_t>* list : {&ids, &target_ids, &ends, &target_ends}) list->clear();
    for (Column& column : columns) {
      column.integers.clear();
      column.numbers.clear();
      column.counts.clear();
    }
  }
};

/// A column of a whole set. Either `integers` or `numbers` is empty, as ColumnRule::type says.
struct ColumnValues {
  ColumnRule rule;
  std::span<const std::int32_t> integers = {};
  std::span<const float> numbers = {};
  std::span<const std::int32_t> counts = {};  ///< (S) values per sequence, `ragged` only

  std::size_t size() const { return integers.size() + numbers.size(); }
};

/// The arrays of a set. Lengths and counts have one value per sequence (S), `sequences` one per example (E).
struct ExampleArrays {
  std::span<const std::int32_t> lengths, ids;
  std::span<const std::int32_t> target_lengths = {}, target_ids = {};  ///< empty: there is no second text
  std::span<const std::int32_t> sequences = {};                        ///< empty: one per example
  std::vector<ColumnValues> columns = {};
};

/// A range of neighbouring elements of an array.
struct Run {
  std::size_t first = 0;
  std::size_t count = 0;
};

/// E examples of S sequences with N rows. Copies share their arrays. An object does not change after
/// construction, so several threads may read it. Examples and sequences are numbered from 0; column() returns
/// the number of a column.
class ExampleSet {
 public:
  ExampleSet() = default;
  /// `owner` keeps the arrays of the spans alive. Throws Error when lengths do not add up.
  ExampleSet(ExampleArrays arrays, std::shared_ptr<const void> owner)
      : arrays_(std::move(arrays)), owner_(std::move(owner)) {
    const std::size_t count = arrays_.lengths.size();
    row_offsets_ = offsets(arrays_.lengths, count, arrays_.ids.size());
    if (has_target()) target_offsets_ = offsets(arrays_.target_lengths, count, arrays_.target_ids.size());
    if (!arrays_.sequences.empty())
      sequence_offsets_ = offsets(arrays_.sequences, arrays_.sequences.size(), count);
    for (const ColumnValues& column : arrays_.columns) {
      value_offsets_.push_back(column.rule.space == Space::ragged
                                   ? offsets(column.counts, count, column.size())
                                   : std::vector<std::size_t>());
    }
    for (const ColumnValues& column : arrays_.columns)
      if (column.rule.space != Space::ragged &&
          column.size() != static_cast<std::size_t>(column.rule.width) * rows(column.rule.space))
        throw Error("column \"" + column.rule.name + "\" of the encoded set does not fit its rows");
  }

  /// Number of examples.
  std::size_t size() const {
    return arrays_.sequences.empty() ? arrays_.lengths.size() : arrays_.sequences.size();
  }
  std::size_t sequence_count() const { return arrays_.lengths.size(); }
  /// Returns a set over the same arrays in which every sequence is an example of its own.
  ExampleSet by_sequence() const {
    ExampleArrays arrays = arrays_;
    arrays.sequences = {};
    return {std::move(arrays), owner_};
  }
  /// Returns the numbers of the sequences of an example.
  Run sequences(std::size_t example) const {
    if (sequence_offsets_.empty()) return {example, 1};
    return {sequence_offsets_[example], sequence_offsets_[example + 1] - sequence_offsets_[example]};
  }
  bool has_target() const { return !arrays_.target_lengths.empty(); }
  const ExampleArrays& arrays() const { return arrays_; }
  const std::vector<ColumnValues>& columns() const { return arrays_.columns; }

  std::span<const std::int32_t> ids(std::size_t sequence) const {
    return part(arrays_.ids, row_offsets_, sequence);
  }
  std::span<const std::int32_t> target_ids(std::size_t sequence) const {
    if (!has_target()) return {};
    return part(arrays_.target_ids, target_offsets_, sequence);
  }
  /// Return the rows of a space: their number in the whole set, and the range of one sequence. For `picked`
  /// they are those of the column "picked", which must exist (Error).
  std::size_t rows(Space space) const {
    switch (space) {
      case Space::tokens:
        return arrays_.ids.size();
      case Space::target:
        return arrays_.target_ids.size();
      case Space::sequences:
        return arrays_.lengths.size();
      default:
        return arrays_.columns[column(picked_column)].size();
    }
  }
  Run rows(Space space, std::size_t sequence) const {
    switch (space) {
      case Space::tokens:
        return run(row_offsets_, sequence);
      case Space::target:
        return run(target_offsets_, sequence);
      case Space::sequences:
        return {sequence, 1};
      default:
        return run(value_offsets_[column(picked_column)], sequence);
    }
  }

  bool has_column(std::string_view name) const { return find(name) < arrays_.columns.size(); }
  /// Returns the number of a column, for integers() and numbers(). Throws Error if there is no column of that
  /// name.
  std::size_t column(std::string_view name) const {
    const std::size_t found = find(name);
    if (found == arrays_.columns.size())
      throw Error("the encoded set has no column \"" + std::string(name) + "\"");
    return found;
  }
  /// Return the values of one sequence: rows * width, row by row; empty if the column has the other type.
  /// They are valid as long as a copy of the set lives.
  std::span<const std::int32_t> integers(std::size_t column, std::size_t sequence) const {
    return values(arrays_.columns[column].integers, column, sequence);
  }
  std::span<const float> numbers(std::size_t column, std::size_t sequence) const {
    return values(arrays_.columns[column].numbers, column, sequence);
  }

 private:
  std::size_t find(std::string_view name) const {
    std::size_t i = 0;
    while (i < arrays_.columns.size() && arrays_.columns[i].rule.name != name) ++i;
    return i;
  }
  template <class T>
  std::span<const T> values(std::span<const T> all, std::size_t column, std::size_t sequence) const {
    const ColumnRule& rule = arrays_.columns[column].rule;
    if (all.empty()) return {};  // of the other kind
    if (!value_offsets_[column].empty()) return part(all, value_offsets_[column], sequence);
    const Run of = rows(rule.space, sequence);
    const auto width = static_cast<std::size_t>(rule.width);
    return all.subspan(width * of.first, width * of.count);
  }
  static Run run(const std::vector<std::size_t>& offsets, std::size_t i) {
    return {offsets[i], offsets[i + 1] - offsets[i]};
  }
  template <class T>
  static std::span<const T> part(std::span<const T> all, const std::vector<std::size_t>& offsets,
                                 std::size_t i) {
    return all.subspan(offsets[i], offsets[i + 1] - offsets[i]);
  }
  static std::vector<std::size_t> offsets(std::span<const std::int32_t> counts, std::size_t expected,
                                          std::size_t total) {
    std::vector<std::size_t> offsets = {0};
    offsets.reserve(counts.size() + 1);
    for (const std::int32_t count : counts) {
      if (count < 0 || static_cast<std::size_t>(count) > total - offsets.back())
        throw Error("the arrays of the encoded set do not add up");
      offsets.push_back(offsets.back() + static_cast<std::size_t>(count));
    }
    if (counts.size() != expected || offsets.back() != total)
      throw Error("the arrays of the encoded set do not add up");
    return offsets;
  }

  ExampleArrays arrays_;
  std::vector<std::size_t> row_offsets_ = {0}, target_offsets_, sequence_offsets_;
  std::vector<std::vector<std::size_t>> value_offsets_;  ///< of columns with counts
  std::shared_ptr<const void> owner_;
};

}  // namespace encore
