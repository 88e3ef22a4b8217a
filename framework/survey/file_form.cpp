// SPDX-License-Identifier: BSD-3-Clause
// form_of(): an object at the beginning means JSON lines; otherwise the delimiter is the character with which
// the most rows have the columns of the first row. survey.cpp calls it. The rows that are looked at and the
// characters that are tried may change. Read file_form.hpp first.
#include "survey/file_form.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

#include <encore/error.hpp>
#include <encore/separated_rows.hpp>

#include "base/utf8.hpp"
#include "config/value.hpp"

namespace encore::survey {
namespace {

constexpr std::array delimiters = {'\t', ',', ';', '|'};
constexpr std::int64_t rows_tried = 200;

/// How well a character separates the columns of a table.
struct Fit {
  std::size_t columns = 0;  ///< of the first row
  std::int64_t rows = 0, equal = 0;

  double share() const { return rows == 0 ? 0.0 : static_cast<double>(equal) / static_cast<double>(rows); }
  bool operator<(const Fit& other) const {
    const bool separates = columns > 1, other_separates = other.columns > 1;
    if (separates != other_separates) return other_separates;
    return share() != other.share() ? share() < other.share() : columns < other.columns;
  }
};

Fit fit_of(std::string_view text, char delimiter) {
  Fit fit;
  for (SeparatedRows rows(text, delimiter, delimiter != '\t'); fit.rows < rows_tried && rows.next();) {
    if (fit.rows++ == 0) fit.columns = rows.values().size();
    if (rows.values().size() == fit.columns && rows.problem().empty()) ++fit.equal;
  }
  return fit;
}

}  // namespace

std::string FileForm::delimiter_text() const {
  return is_json ? "" : delimiter == '\t' ? "tab" : std::string(1, delimiter);
}

FileForm form_of(const InputText& file, bool header) {
  const std::string_view text = trimmed(without_byte_order_mark(file.text));
  if (text.empty())
    throw Error(file.name + ": the file is empty: expected a line with the names of the columns and a row " +
                "for each record, or a JSON object on each line");
  if (text.starts_with("[") && trimmed(text.substr(1)).starts_with("{"))
    throw Error(file.name +
                ":1: the file is a JSON array: expected one object on each line, as jq -c '.[]' " +
                "FILE writes the objects of an array");
  if (text.starts_with("{")) return {.is_json = true};
  FileForm form = {.header = header};
  Fit best;
  for (const char delimiter : delimiters)
    if (const Fit fit = fit_of(file.text, delimiter); best < fit) {
      best = fit;
      form.delimiter = delimiter;
    }
  if (best.columns > 1) return form;
  const std::string_view first = text.substr(0, text.find_first_of("\r\n"));
  throw Error(file.name + ":1: the first line has one column: \"" + config::shortened(std::string(first)) +
              "\"; expected columns with a tab or one of , ; | between them");
}

}  // namespace encore::survey
