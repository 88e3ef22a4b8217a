// SPDX-License-Identifier: BSD-3-Clause
// Table: text in aligned columns, and the same rows as CSV. All verbs with tables use it, with time_text(),
// fixed() and others for their cells (document/quantity.hpp has other formats). The verbs make JSON
// themselves, from typed values. A title is also the name of the CSV column, which programs read.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "cli/terminal.hpp"
#include "document/escape.hpp"
#include "document/quantity.hpp"

namespace encore::cli {

enum class Align { left, right };

struct TableColumn {
  std::string title;  ///< "BEST SCORE"; in CSV "best_score"
  Align align = Align::left;
  bool optional = false;  ///< left out if the terminal is too narrow; of several, the last one first
};

struct Cell {
  Cell(std::string content) : text(std::move(content)) {}
  Cell(const char* content) : text(content) {}
  Cell(std::string content, Style look) : text(std::move(content)), style(look), has_style(true) {}
  std::string text;
  Style style = Style::bold;
  bool has_style = false;  ///< false: `style` is not used
};

/// Returns the title of a column: "TOKEN ACCURACY" for "token_accuracy", "DEV F1" for "dev/F1".
std::string heading_text(std::string text);

class Table {
 public:
  explicit Table(std::vector<TableColumn> columns) : columns_(std::move(columns)) {}
  /// Adds a row with one cell for each column.
  void add(std::vector<Cell> row);
  bool empty() const { return rows_.empty(); }
  /// Prints the table with two blanks between columns and `indent` blanks before each line, without blanks at
  /// the end of a line. A file or a pipe gets all columns.
  void print(std::ostream& out, const Terminal& terminal, int indent = 0) const;
  /// Prints all columns, with the title "best_score" for "BEST SCORE". A cell "-" becomes empty.
  void print_csv(std::ostream& out) const;

 private:
  /// Returns the indices of the columns that fit, by their widths.
  std::vector<std::size_t> shown(const std::vector<int>& widths, const Terminal& terminal, int indent) const;

  std::vector<TableColumn> columns_;
  std::vector<std::vector<Cell>> rows_;
};

// --- times and numbers as cells ---

/// Returns "2026-01-31 23:59:59", local time, from seconds since 1970.
std::string time_text(double time);
/// Returns "23:59:59", local time, from seconds since 1970.
std::string clock_text(double time);
/// Returns "12.34", with `digits` digits after the point.
std::string fixed(double value, int digits);
/// Returns "12.3", a share in percent without its sign.
std::string percent(double share);

}  // namespace encore::cli
