// ExampleSet: the records of a set as numbers: ids of pieces, and beside them columns that the task filled.
// The host stores, caches and packs them without knowing what they mean; the task reads its columns back when
// it scores. Place in the flow: Task::encode fills one EncodedExample after the other -> ExampleSet ->
// batches -> model -> Outputs.
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

namespace encore {

/// Over what a column has values.
enum class Space : std::uint8_t {
  tokens,     ///< one per id
  sequences,  ///< one per sequence
  ragged,     ///< as many per sequence as the task writes: positions that are picked, the true labels of all
              ///< words
};

struct ColumnRule {
  std::string name;
  Space space = Space::tokens;

  friend bool operator==(const ColumnRule&, const ColumnRule&) = default;
};

/// The column over `tokens` that the head's loss reads: the class of a row, `no_target` where it has none.
/// Where nothing is known (prediction), class 0 marks the rows to decode.
inline constexpr const char* targets_column = "targets";
/// The target of a row that has none.
inline constexpr std::int32_t no_target = -1;

/// One record as the model sees it. The vectors come empty and keep their memory from record to record.
struct EncodedExample {
  std::vector<std::int32_t> ids;                   ///< (T), numbers of pieces of the vocabulary
  std::vector<std::vector<std::int32_t>> columns;  ///< one per rule of Task::columns()
};

/// A column of a whole set.
struct ColumnValues {
  ColumnRule rule;
  std::span<const std::int32_t> values;
  std::span<const std::int32_t> counts = {};  ///< (S) values per sequence, `ragged` only
};

/// S sequences, N rows. Copies share what they look into. Nothing changes after construction: safe to read
/// from several threads. Numbers of sequences are from 0 to size() - 1, those of columns come from column().
class ExampleSet {
 public:
  ExampleSet() = default;
  /// `owner` keeps alive what the spans look into. Throws Error when lengths do not add up.
  ExampleSet(std::span<const std::int32_t> lengths, std::span<const std::int32_t> ids,
             std::vector<ColumnValues> columns, std::shared_ptr<const void> owner)
      : lengths_(lengths), ids_(ids), columns_(std::move(columns)), owner_(std::move(owner)) {
    row_offsets_ = offsets(lengths_, ids_.size());
    for (const ColumnValues& column : columns_) {
      const std::size_t count = column.values.size();
      if (column.rule.space == Space::tokens ? count != ids_.size()
                                             : column.rule.space == Space::sequences && count != size())
        throw Error("column \"" + column.rule.name + "\" of the encoded set does not fit its rows");
      value_offsets_.push_back(column.rule.space == Space::ragged ? offsets(column.counts, count)
                                                                  : std::vector<std::size_t>());
    }
  }

  std::size_t size() const { return lengths_.size(); }
  std::span<const std::int32_t> lengths() const { return lengths_; }  ///< (S) T of each sequence
  std::span<const std::int32_t> all_ids() const { return ids_; }      ///< (N)
  const std::vector<ColumnValues>& columns() const { return columns_; }
  std::size_t first_row(std::size_t sequence) const { return row_offsets_[sequence]; }
  std::span<const std::int32_t> ids(std::size_t sequence) const {
    return ids_.subspan(row_offsets_[sequence], row_offsets_[sequence + 1] - row_offsets_[sequence]);
  }
  /// The number of a column for values(); throws Error when there is none of that name.
  std::size_t column(std::string_view name) const {
    for (std::size_t i = 0; i < columns_.size(); ++i)
      if (columns_[i].rule.name == name) return i;
    throw Error("the encoded set has no column \"" + std::string(name) + "\"");
  }
  /// What belongs to one sequence.
  std::span<const std::int32_t> values(std::size_t column, std::size_t sequence) const {
    const ColumnValues& of = columns_[column];
    if (of.rule.space == Space::sequences) return of.values.subspan(sequence, 1);
    const std::vector<std::size_t>& from =
        of.rule.space == Space::tokens ? row_offsets_ : value_offsets_[column];
    return of.values.subspan(from[sequence], from[sequence + 1] - from[sequence]);
  }

 private:
  static std::vector<std::size_t> offsets(std::span<const std::int32_t> counts, std::size_t total) {
    std::vector<std::size_t> offsets = {0};
    offsets.reserve(counts.size() + 1);
    for (const std::int32_t count : counts) {
      if (count < 0 || static_cast<std::size_t>(count) > total - offsets.back())
        throw Error("the arrays of the encoded set do not add up");
      offsets.push_back(offsets.back() + static_cast<std::size_t>(count));
    }
    if (offsets.back() != total) throw Error("the arrays of the encoded set do not add up");
    return offsets;
  }

  std::span<const std::int32_t> lengths_, ids_;
  std::vector<ColumnValues> columns_;
  std::vector<std::size_t> row_offsets_ = {0};
  std::vector<std::vector<std::size_t>> value_offsets_;  ///< of ragged columns
  std::shared_ptr<const void> owner_;
};

/// What the model says of a set: the class of each row; on rows without a target anything.
struct Outputs {
  std::vector<std::int32_t> classes;  ///< (N)

  std::span<const std::int32_t> of(const ExampleSet& set, std::size_t sequence) const {
    return std::span<const std::int32_t>(classes).subspan(set.first_row(sequence), set.ids(sequence).size());
  }
};

}  // namespace encore
