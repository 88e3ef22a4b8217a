// Parts of the set are filled by several threads and joined in order.
#include "data/encode.hpp"

#include <algorithm>

#include "data/parallel.hpp"

namespace encore {
namespace {

/// Records of one piece of work.
constexpr std::int64_t records_per_part = 1024;

/// The arrays of a set while they grow.
struct Storage {
  struct Values {
    std::vector<std::int32_t> values, counts;
  };
  std::vector<std::int32_t> lengths, ids;
  std::vector<Values> columns;

  void append(const EncodedExample& example) {
    lengths.push_back(static_cast<std::int32_t>(example.ids.size()));
    ids.insert(ids.end(), example.ids.begin(), example.ids.end());
    for (std::size_t i = 0; i < columns.size(); ++i) {
      const std::vector<std::int32_t>& from = example.columns[i];
      columns[i].values.insert(columns[i].values.end(), from.begin(), from.end());
      columns[i].counts.push_back(static_cast<std::int32_t>(from.size()));
    }
  }

  void append(const Storage& other) {
    const auto join = [](std::vector<std::int32_t>& to, const std::vector<std::int32_t>& from) {
      to.insert(to.end(), from.begin(), from.end());
    };
    join(lengths, other.lengths);
    join(ids, other.ids);
    for (std::size_t i = 0; i < columns.size(); ++i) {
      join(columns[i].values, other.columns[i].values);
      join(columns[i].counts, other.columns[i].counts);
    }
  }
};

std::string of_record(std::size_t record) {
  return " for record " + std::to_string(record + 1);
}

/// What the numbers of a record must stay below.
struct Limits {
  std::int64_t max_length = 0;
  std::size_t pieces = 0;  ///< 0: the tokenizer has no vocabulary yet, ids are not looked at
  std::size_t classes = 0;
};

bool is_below(std::int32_t number, std::size_t limit) {
  return number >= 0 && static_cast<std::size_t>(number) < limit;
}

/// Kernels index with ids and targets and do not look at them again.
void require_numbers(const EncodedExample& example, const std::vector<ColumnRule>& rules,
                     const Limits& limits, std::size_t record) {
  for (const std::int32_t id : example.ids)
    if (limits.pieces > 0 && !is_below(id, limits.pieces))
      throw Error("the task gives the id " + std::to_string(id) + of_record(record) +
                  ", and the vocabulary has " + std::to_string(limits.pieces) + " pieces");
  for (std::size_t i = 0; i < rules.size(); ++i) {
    if (rules[i].name != targets_column) continue;
    for (const std::int32_t target : example.columns[i])
      if (target != no_target && !is_below(target, limits.classes))
        throw Error("the task gives the target " + std::to_string(target) + of_record(record) + ", and has " +
                    std::to_string(limits.classes) + " classes");
  }
}

void require_sound(const EncodedExample& example, const std::vector<ColumnRule>& rules, const Limits& limits,
                   std::size_t record) {
  const std::size_t rows = example.ids.size();
  if (rows == 0 || static_cast<std::int64_t>(rows) > limits.max_length)
    throw Error("the task gives " + std::to_string(rows) + " ids" + of_record(record) +
                "; it must be at least 1 and at most data.max_length = " + std::to_string(limits.max_length));
  if (example.columns.size() != rules.size())
    throw Error("the task gives " + std::to_string(example.columns.size()) + " columns" + of_record(record) +
                " and declares " + std::to_string(rules.size()));
  for (std::size_t i = 0; i < rules.size(); ++i) {
    if (rules[i].space == Space::ragged) continue;
    const std::size_t expected = rules[i].space == Space::tokens ? rows : 1;
    if (example.columns[i].size() != expected)
      throw Error("the task gives " + std::to_string(example.columns[i].size()) + " values of column \"" +
                  rules[i].name + "\"" + of_record(record) + ", which needs " + std::to_string(expected));
  }
  require_numbers(example, rules, limits, record);
}

}  // namespace

ExampleSet encode_records(const Task& task, const Records& records, const Tokenizer& tokenizer,
                          std::int64_t max_length, int threads) {
  const std::vector<ColumnRule> rules = task.columns();
  const Limits limits{
      .max_length = max_length, .pieces = tokenizer.vocabulary().size(), .classes = task.labels().size()};
  const auto count = static_cast<std::int64_t>(records.size());
  std::vector<Storage> parts(static_cast<std::size_t>((count + records_per_part - 1) / records_per_part));
  run_pieces(static_cast<std::int64_t>(parts.size()), threads, [&](std::int64_t piece) {
    Storage& part = parts[static_cast<std::size_t>(piece)];
    part.columns.resize(rules.size());
    EncodedExample example;
    example.columns.resize(rules.size());
    const std::int64_t first = piece * records_per_part;
    for (std::int64_t i = first; i < std::min(first + records_per_part, count); ++i) {
      example.ids.clear();
      for (std::vector<std::int32_t>& column : example.columns) column.clear();
      task.encode(records, static_cast<std::size_t>(i), tokenizer, example);
      require_sound(example, rules, limits, static_cast<std::size_t>(i));
      part.append(example);
    }
  });
  const auto all = std::make_shared<Storage>();
  all->columns.resize(rules.size());
  for (Storage& part : parts) {
    all->append(part);
    part = {};
  }
  std::vector<ColumnValues> columns;
  for (std::size_t i = 0; i < rules.size(); ++i)
    columns.push_back({rules[i], all->columns[i].values,
                       rules[i].space == Space::ragged ? std::span<const std::int32_t>(all->columns[i].counts)
                                                       : std::span<const std::int32_t>()});
  return {all->lengths, all->ids, std::move(columns), all};
}

}  // namespace encore
