// SPDX-License-Identifier: BSD-3-Clause
// columns_of(): one pass over the rows of a table or the objects of JSON lines, with a ColumnCounter for each
// column. survey.cpp calls it. A first row that is a record is recognized by its values: a label of the first
// record occurs again in its column, and a heading does not. Read columns.hpp first.
#include "survey/columns.hpp"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include <encore/error.hpp>
#include <encore/lines.hpp>
#include <encore/separated_rows.hpp>
#include <nlohmann/json.hpp>

#include "base/json_text.hpp"
#include "base/utf8.hpp"
#include "config/value.hpp"
#include "survey/text_size.hpp"

namespace encore::survey {
namespace {

constexpr std::size_t longest_value = 200;    ///< a longer value is not a label, and is not kept
constexpr std::size_t longest_heading = 100;  ///< in bytes
constexpr std::int64_t rows_between_reports = 4096;

bool is_number(std::string_view value) {
  double number = 0.0;
  const auto [end, failure] = std::from_chars(value.data(), value.data() + value.size(), number);
  return failure == std::errc() && end == value.data() + value.size();
}

/// Returns whether the value looks like a date or a time, such as 2026-01-31T09:00:00Z or 31.01.2026.
bool is_date(std::string_view value) {
  std::size_t digits = 0, marks = 0;
  for (const char letter : value) {
    if (letter >= '0' && letter <= '9')
      ++digits;
    else if (std::string_view("-/.:").find(letter) != std::string_view::npos)
      ++marks;
    else if (std::string_view("TZ +").find(letter) == std::string_view::npos)
      return false;
  }
  return digits >= 4 && marks >= 2;
}

struct TextHash {
  using is_transparent = void;
  std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
};

/// Counts the values of one column.
class ColumnCounter {
 public:
  void add(std::string_view value) {
    if (value.empty()) return;
    if (filled_++ == 0) example_ = example_of(value);
    characters_ += count_characters(value);
    words_ += count_words(value);
    if (is_number(value))
      ++numbers_;
    else if (is_date(value))
      ++dates_;
    if (!values_) return;
    if (const auto known = values_->find(value); known != values_->end())
      ++known->second;
    else if (value.size() > longest_value || values_->size() == most_values)
      values_.reset();
    else
      values_->emplace(value, 1);
  }
  /// Counts a list or an object of JSON, which is neither a text nor a label.
  void add_other() {
    ++filled_;
    ++others_;
  }

  record::SurveyedColumn facts(std::string name, std::int64_t rows) const {
    const double filled = std::max<double>(1.0, static_cast<double>(filled_));
    record::SurveyedColumn column{.name = std::move(name),
                                  .filled = filled_,
                                  .empty = rows - filled_,
                                  .characters = static_cast<double>(characters_) / filled,
                                  .words = static_cast<double>(words_) / filled,
                                  .numbers = static_cast<double>(numbers_) / filled,
                                  .dates = static_cast<double>(dates_) / filled,
                                  .others = static_cast<double>(others_) / filled,
                                  .example = example_};
    if (!values_) return column;
    column.values = std::ssize(*values_);
    column.rarest = filled_;
    for (const auto& [value, count] : *values_) column.rarest = std::min(column.rarest, count);
    if (values_->empty()) column.rarest = 0;
    return column;
  }

  /// Returns whether the value occurs in a column with half as many records again as values, or more.
  bool repeats(std::string_view value) const {
    return values_ && !value.empty() && values_->contains(value) && 2 * filled_ >= 3 * std::ssize(*values_);
  }

 private:
  std::int64_t filled_ = 0, numbers_ = 0, dates_ = 0, others_ = 0;
  std::size_t characters_ = 0, words_ = 0;
  std::string example_;
  /// Each value with its number; none if they are too many.
  std::optional<std::unordered_map<std::string, std::int64_t, TextHash, std::equal_to<>>> values_{
      std::in_place};
};

// --- tables ---

/// Returns the name of a column as the options of the reader have it.
std::string option_of(const std::vector<std::string>& headings, std::size_t column) {
  const std::string number = std::to_string(column + 1);
  if (column >= headings.size()) return number;
  const std::string& heading = headings[column];
  const bool is_digits = heading.find_first_not_of("0123456789") == std::string::npos;  // also an empty one
  return is_digits || std::ranges::count(headings, heading) > 1 ? number : heading;
}

/// Throws Error if a row of headings looks like a record.
void require_headings(const InputText& file, const std::vector<std::string>& headings,
                      const std::vector<ColumnCounter>& counters, std::int64_t rows) {
  std::string reason;
  for (std::size_t i = 0; i < headings.size() && reason.empty(); ++i) {
    const std::string quoted = "\"" + config::shortened(headings[i]) + "\"";
    const record::SurveyedColumn facts = counters[i].facts("", rows);
    if (headings[i].size() > longest_heading || headings[i].find('\n') != std::string::npos)
      reason = quoted + " is too long for a name";
    else if (counters[i].repeats(headings[i]))
      reason = quoted + " is also a value of its column";
    else if ((is_number(headings[i]) && facts.numbers > 0.9) || (is_date(headings[i]) && facts.dates > 0.9))
      reason = quoted + " is a value like those below it";
  }
  if (!reason.empty())
    throw Error(file.name + ":1: the first line does not name the columns: " + reason +
                "; write a line of names above it, such as text and label, or give --no-header");
}

SurveyedColumns table_columns(const InputText& file, const FileForm& form, const Watch& watch) {
  SurveyedColumns found;
  std::vector<std::string> headings;
  std::vector<ColumnCounter> counters;
  std::size_t bytes = 0;
  bool is_first = true;
  for (SeparatedRows rows(file.text, form.delimiter, form.has_quotes()); rows.next(); is_first = false) {
    const std::vector<std::string_view>& values = rows.values();
    if (is_first) {
      counters.resize(std::min(values.size(), most_columns));
      if (form.header) {
        if (!rows.problem().empty())
          throw Error(file.name + ":" + std::to_string(rows.line()) + ": " + rows.problem());
        headings.assign(values.begin(), values.begin() + std::ssize(counters));
        continue;
      }
    } else if (form.header && std::ranges::equal(values, headings)) {
      continue;  // the reader skips it too
    }
    ++found.rows;
    for (std::size_t i = 0; i < counters.size() && i < values.size(); ++i) counters[i].add(values[i]);
    bytes += rows.row().size() + 1;
    if (watch && found.rows % rows_between_reports == 0) watch(bytes);
  }
  if (found.rows == 0)
    throw Error(file.name + ": the file has a line of names and no row: expected a row for each record");
  require_headings(file, headings, counters, found.rows);
  for (std::size_t i = 0; i < counters.size(); ++i)
    found.columns.push_back(counters[i].facts(option_of(headings, i), found.rows));
  return found;
}

// --- JSON lines ---

class KeyCounters {
 public:
  void add(const nlohmann::json& object, const std::string& above = "", std::size_t level = 1) {
    for (const auto& [name, value] : object.items()) {
      const std::string key = above + name;
      if (value.is_object() && level < most_levels) {
        add(value, key + ".", level + 1);
        continue;
      }
      ColumnCounter* counter = counter_of(key);
      if (counter == nullptr) continue;
      if (value.is_string())
        counter->add(trimmed(value.get_ref<const std::string&>()));
      else if (value.is_primitive() && !value.is_null())
        counter->add(value.dump());
      else if (!value.is_null())
        counter->add_other();
    }
  }
  std::vector<record::SurveyedColumn> facts(std::int64_t rows) const {
    std::vector<record::SurveyedColumn> columns;
    for (std::size_t i = 0; i < names_.size(); ++i) columns.push_back(counters_[i].facts(names_[i], rows));
    return columns;
  }

 private:
  ColumnCounter* counter_of(const std::string& key) {
    if (const auto known = places_.find(key); known != places_.end()) return &counters_[known->second];
    if (names_.size() == most_columns) return nullptr;
    places_.emplace(key, names_.size());
    names_.push_back(key);
    return &counters_.emplace_back();
  }

  std::unordered_map<std::string, std::size_t> places_;
  std::vector<std::string> names_;
  std::vector<ColumnCounter> counters_;
};

SurveyedColumns json_columns(const InputText& file, const Watch& watch) {
  SurveyedColumns found;
  KeyCounters keys;
  std::size_t bytes = 0;
  for (Lines lines(without_byte_order_mark(file.text)); lines.next();) {
    bytes += lines.line().size() + 1;
    if (trimmed(lines.line()).empty()) continue;
    ++found.rows;
    const nlohmann::json object = json_or_null(lines.line());
    if (object.is_object()) keys.add(object);  // the reader reports the other lines
    if (watch && found.rows % rows_between_reports == 0) watch(bytes);
  }
  found.columns = keys.facts(found.rows);
  if (found.columns.empty())
    throw Error(file.name + ": no line is a JSON object with members: expected one object on each line, as " +
                "jq -c '.[]' FILE writes the objects of an array");
  return found;
}

}  // namespace

SurveyedColumns columns_of(const InputText& file, const FileForm& form, const Watch& watch) {
  return form.is_json ? json_columns(file, watch) : table_columns(file, form, watch);
}

}  // namespace encore::survey
