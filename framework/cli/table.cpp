// See table.hpp.
#include "cli/table.hpp"

#include <algorithm>
#include <ostream>

#include <encore/error.hpp>

namespace encore {

void Table::add(std::vector<Cell> row) {
  ENCORE_REQUIRE(row.size() == columns_.size(), "a row has as many cells as the table has columns");
  for (Cell& cell : row) cell.text = printable(cell.text);
  rows_.push_back(std::move(row));
}

void Table::print(std::ostream& out, const Terminal& terminal, int indent) const {
  std::vector<int> widths;
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    int width = display_width(columns_[c].title);
    for (const auto& row : rows_) width = std::max(width, display_width(row[c].text));
    widths.push_back(width);
  }
  const auto write = [&](std::size_t column, const Cell& cell) {
    const auto blanks = static_cast<std::size_t>(widths[column] - display_width(cell.text));
    const bool last = column + 1 == columns_.size();
    const std::string padding(blanks, ' ');
    const std::string text = cell.has_style ? styled(terminal, cell.style, cell.text) : cell.text;
    if (columns_[column].align == Align::right)
      out << padding << text;
    else
      out << text << (last ? "" : padding);
    out << (last ? "\n" : "  ");
  };
  const std::string margin(static_cast<std::size_t>(indent), ' ');
  out << margin;
  for (std::size_t c = 0; c < columns_.size(); ++c) write(c, {columns_[c].title, Style::dim});
  for (const auto& row : rows_) {
    out << margin;
    for (std::size_t c = 0; c < row.size(); ++c) write(c, row[c]);
  }
}

std::string csv_record(const std::vector<std::string>& fields) {
  std::string record;
  for (const std::string& field : fields) {
    if (&field != &fields.front()) record += ',';
    if (field.find_first_of(",\"\r\n") == std::string::npos) {
      record += field;
      continue;
    }
    record += '"';
    for (char character : field) record += character == '"' ? std::string("\"\"") : std::string(1, character);
    record += '"';
  }
  return record + "\r\n";
}

}  // namespace encore
