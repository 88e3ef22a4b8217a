// SPDX-License-Identifier: BSD-3-Clause
// Implements csv_files(), the CSV writer of `exp report`: collects the tables of all sections, and writes
// each cell quoted as RFC 4180 requires (csv_field in escape.hpp). A column of the file is called "name
// (unit)"; scripts read it, so the form stays. Read writers.hpp first.
#include "document/writers.hpp"

#include <encore/error.hpp>

#include "base/nearest.hpp"
#include "base/readable_text.hpp"
#include "document/escape.hpp"
#include "document/outline.hpp"

namespace encore::document {

namespace {

using Tables = std::vector<const TableBlock*>;

void collect(const std::vector<Block>& blocks, Tables& tables) {
  for (const Block& block : blocks)
    if (const auto* table = std::get_if<TableBlock>(&block)) tables.push_back(table);
}

void collect(const Section& section, Tables& tables) {
  collect(section.blocks, tables);
  for (const Section& inner : section.sections) collect(inner, tables);
}

Tables tables_of(const Document& document) {
  Tables tables;
  collect(document.abstract, tables);
  for (const Section& section : document.sections) collect(section, tables);
  return tables;
}

std::string csv_cell(const TableCell& cell) {
  return cell.number ? exact_text(*cell.number) : csv_text(cell.text.plain());
}

std::string csv_table(const TableBlock& table) {
  std::string text;
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    const Column& column = table.columns[i];
    text += (i == 0 ? "" : ",") +
            csv_text(column.unit.empty() ? column.name : column.name + " (" + column.unit + ")");
  }
  text += "\r\n";
  for (const auto& row : table.rows) {
    for (std::size_t i = 0; i < table.columns.size(); ++i)
      text += (i == 0 ? "" : ",") + (i < row.size() ? csv_cell(row[i]) : "");
    text += "\r\n";
  }
  return text;
}

}  // namespace

std::vector<OutputFile> csv_files(const Document& document, const std::string& name, const std::string& id) {
  const Outline outline(document);
  const Tables tables = tables_of(document);
  if (tables.empty())
    throw Error("there is no table to write as CSV; another format holds the text and the pictures");
  if (!id.empty()) {
    std::vector<std::string> ids;
    for (const TableBlock* table : tables) {
      if (table->id == id) return {{name, csv_table(*table)}};
      ids.push_back(table->id);
    }
    throw Error("there is no table \"" + id + "\"" + did_you_mean(id, ids, "; there is " + quoted_list(ids)));
  }
  if (tables.size() == 1) return {{name, csv_table(*tables.front())}};
  std::filesystem::path folder = name;
  if (folder.extension() == ".csv") folder.replace_extension();
  std::vector<OutputFile> files;
  for (const TableBlock* table : tables)
    files.push_back({folder / (outline.of(*table).id + ".csv"), csv_table(*table)});
  return files;
}

}  // namespace encore::document
