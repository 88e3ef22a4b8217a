// SPDX-License-Identifier: BSD-3-Clause
// Table: lays out the columns of a table by the width of characters on terminals, and prints the same rows
// as CSV. time_text(), fixed() and others format the cells. All verbs with tables use it. The titles of CSV
// columns come from those of the table: a changed title renames a column that programs read. Read next:
// table.hpp.
#include "cli/table.hpp"

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <ctime>
#include <ostream>

#include <encore/error.hpp>

#include "document/escape.hpp"

namespace encore::cli {

namespace {

std::string local_time_text(const char* format, double time) {
  const auto seconds = static_cast<std::time_t>(time);
  std::tm parts{};
  ::localtime_r(&seconds, &parts);
  char text[32];
  std::strftime(text, sizeof text, format, &parts);
  return text;
}

}  // namespace

std::string time_text(double time) {
  return local_time_text("%Y-%m-%d %H:%M:%S", time);
}
std::string clock_text(double time) {
  return local_time_text("%H:%M:%S", time);
}

std::string fixed(double value, int digits) {
  char text[400];  // the largest double has 309 digits
  std::snprintf(text, sizeof text, "%.*f", digits, value);
  return text;
}

std::string percent(double share) {
  return fixed(100.0 * share, 1);
}

void Table::add(std::vector<Cell> row) {
  ENCORE_REQUIRE(row.size() == columns_.size(), "a row has as many cells as the table has columns");
  for (Cell& cell : row) cell.text = printable(cell.text);
  rows_.push_back(std::move(row));
}

std::vector<std::size_t> Table::shown(const std::vector<int>& widths, const Terminal& terminal,
                                      int indent) const {
  std::vector<std::size_t> columns;
  int width = indent - 2;  // there is no gap before the first column
  for (std::size_t c = 0; c < widths.size(); ++c) {
    columns.push_back(c);
    width += widths[c] + 2;
  }
  for (std::size_t c = widths.size(); c-- > 0 && terminal.live && width > terminal.width;) {
    if (!columns_[c].optional) continue;
    columns.erase(columns.begin() + static_cast<std::ptrdiff_t>(c));
    width -= widths[c] + 2;
  }
  return columns;
}

void Table::print(std::ostream& out, const Terminal& terminal, int indent) const {
  std::vector<int> widths;
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    int width = display_width(columns_[c].title);
    for (const auto& row : rows_) width = std::max(width, display_width(row[c].text));
    widths.push_back(width);
  }
  const std::vector<std::size_t> columns = shown(widths, terminal, indent);
  const auto write = [&](const std::vector<Cell>& row) {
    // Blanks are owed until something stands behind them.
    auto owed = static_cast<std::size_t>(indent);
    for (const std::size_t column : columns) {
      const Cell& cell = row[column];
      const auto blanks = static_cast<std::size_t>(widths[column] - display_width(cell.text));
      const bool right = columns_[column].align == Align::right;
      owed += right ? blanks : 0;
      if (!cell.text.empty()) {
        out << std::string(owed, ' ')
            << (cell.has_style ? styled(terminal, cell.style, cell.text) : cell.text);
        owed = 0;
      }
      owed += (right ? 0 : blanks) + 2;
    }
    out << '\n';
  };
  std::vector<Cell> titles;
  for (const TableColumn& column : columns_) titles.emplace_back(column.title, Style::dim);
  write(titles);
  for (const auto& row : rows_) write(row);
}

void Table::print_csv(std::ostream& out) const {
  std::vector<std::string> record;
  for (const TableColumn& column : columns_) {
    std::string& name = record.emplace_back(column.title);
    for (char& letter : name)
      letter = letter == ' ' ? '_' : static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
  }
  out << document::csv_record(record);
  for (const auto& row : rows_) {
    record.clear();
    // A "-" stands for a missing value in a table; in CSV such a field is empty.
    for (const Cell& cell : row) record.push_back(cell.text == "-" ? "" : cell.text);
    out << document::csv_record(record);
  }
}

std::string heading_text(std::string text) {
  for (char& letter : text)
    letter = letter == '/' || letter == '_'
                 ? ' '
                 : static_cast<char>(std::toupper(static_cast<unsigned char>(letter)));
  return text;
}

}  // namespace encore::cli
