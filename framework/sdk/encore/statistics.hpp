// SPDX-License-Identifier: BSD-3-Clause
// Statistics: the counts that each example of a data set adds to the measures. The counts are kept for each
// example, so that tests which draw or exchange examples need not know the task. Task::measure writes them,
// and reducers (measure.hpp) and the file of predictions read them. Files of predictions have the columns and
// keys, so their names never change; the class is part of the ABI of plugins (plugin.hpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace encore {

/// Rows are examples. An entry adds to a column, where the column has keys under one key ("PER") or two
/// (truth and prediction, for a matrix). Values are finite: other values have no measure. Not for use by
/// several threads at once.
class Statistics {
 public:
  struct Entry {
    std::uint32_t column = 0, key = 0,
                  second_key = 0;  ///< numbers in columns() and keys(); key 0 is "", no key
    double value = 0.0;
  };

  /// Begins the next example. The entries that follow belong to it.
  void begin_example() { ends_.push_back(entries_.size()); }
  /// Adds an entry to the example of begin_example(). Entries of equal column and keys add up.
  void add(std::string_view column, double value, std::string_view key = {},
           std::string_view second_key = {}) {
    entries_.push_back({.column = number(columns_, column_numbers_, column),
                        .key = number(keys_, key_numbers_, key),
                        .second_key = number(keys_, key_numbers_, second_key),
                        .value = value});
    ends_.back() = entries_.size();
  }

  std::size_t examples() const { return ends_.size(); }
  /// The entries of one example, number < examples(): [begin, end).
  const Entry* begin(std::size_t example) const {
    return entries_.data() + (example == 0 ? 0 : ends_[example - 1]);
  }
  const Entry* end(std::size_t example) const { return entries_.data() + ends_[example]; }
  const std::vector<Entry>& entries() const { return entries_; }
  const std::vector<std::string>& columns() const { return columns_; }
  const std::vector<std::string>& keys() const { return keys_; }

 private:
  using Numbers = std::map<std::string, std::uint32_t, std::less<>>;
  static std::uint32_t number(std::vector<std::string>& names, Numbers& numbers, std::string_view name) {
    if (const auto found = numbers.find(name); found != numbers.end()) return found->second;
    const auto next = static_cast<std::uint32_t>(names.size());
    numbers.emplace(name, next);
    names.emplace_back(name);
    return next;
  }

  std::vector<std::string> columns_, keys_ = {""};
  Numbers column_numbers_, key_numbers_ = {{"", 0}};
  std::vector<Entry> entries_;
  std::vector<std::size_t> ends_;  ///< one past the last entry of each example
};

}  // namespace encore
