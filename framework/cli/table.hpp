// SPDX-License-Identifier: BSD-3-Clause
// Table: text in aligned columns, and the same rows as CSV. All verbs with tables use it. The verbs make JSON
// themselves, from typed values.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "cli/terminal.hpp"
#include "document/escape.hpp"

namespace encore::cli {

enum class Align { left, right };

struct TableColumn {
  std::string title;
  Align align = Align::left;
  bool optional = false;  ///< left out, the last one first, where a terminal is too narrow for all
};

struct Cell {
  Cell(std::string content) : text(std::move(content)) {}
  Cell(const char* content) : text(content) {}
  Cell(std::string content, Style look) : text(std::move(content)), style(look), has_style(true) {}
  std::string text;
  Style style = Style::bold;
  bool has_style = false;
};

/// Returns the title of a column: "TOKEN ACCURACY" for "token_accuracy", "DEV F1" for "dev/F1".
std::string heading_text(std::string text);

class Table {
 public:
  explicit Table(std::vector<TableColumn> columns) : columns_(std::move(columns)) {}
  void add(std::vector<Cell> row);
  bool empty() const { return rows_.empty(); }
  /// Two blanks between columns; `indent` blanks in front. No blanks at the end of a line. What is not a
  /// terminal gets all columns.
  void print(std::ostream& out, const Terminal& terminal, int indent = 0) const;
  /// Prints all columns, with the title "best_score" for "BEST SCORE". A cell "-" becomes empty.
  void print_csv(std::ostream& out) const;

 private:
  /// Which columns there is room for, by their widths.
  std::vector<std::size_t> shown(const std::vector<int>& widths, const Terminal& terminal, int indent) const;

  std::vector<TableColumn> columns_;
  std::vector<std::vector<Cell>> rows_;
};

}  // namespace encore::cli
