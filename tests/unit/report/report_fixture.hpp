// SPDX-License-Identifier: BSD-3-Clause
// Reports of stored runs, and helpers that find their parts.
#pragma once

#include "document/writers.hpp"
#include "report/report.hpp"
#include "unit/analysis/replicates.hpp"

namespace encore::testing {

inline bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

class ReportTest : public ReplicatesTest {
 protected:
  document::Document report(const report::ReportOptions& options = {}) {
    return report::make_report(store(), options);
  }

  static void collect(const std::vector<document::Block>& blocks, std::vector<const document::Block*>& all) {
    for (const document::Block& block : blocks) all.push_back(&block);
  }
  static void collect(const document::Section& section, std::vector<const document::Block*>& all) {
    collect(section.blocks, all);
    for (const document::Section& inner : section.sections) collect(inner, all);
  }
  static std::vector<const document::Block*> blocks_of(const document::Document& document) {
    std::vector<const document::Block*> all;
    collect(document.abstract, all);
    for (const document::Section& section : document.sections) collect(section, all);
    return all;
  }
  static const document::TableBlock* find_table(const document::Document& document, const std::string& id) {
    for (const document::Block* block : blocks_of(document))
      if (const auto* table = std::get_if<document::TableBlock>(block); table != nullptr && table->id == id)
        return table;
    return nullptr;
  }
  static const document::TableBlock& table(const document::Document& document, const std::string& id) {
    const document::TableBlock* found = find_table(document, id);
    if (found == nullptr) throw Error("there is no table " + id);
    return *found;
  }
  static const document::Figure* figure(const document::Document& document, const std::string& id) {
    for (const document::Block* block : blocks_of(document))
      if (const auto* found = std::get_if<document::Figure>(block); found != nullptr && found->id == id)
        return found;
    return nullptr;
  }
  /// Returns the cell of the first row that has a cell `row`, in the column of that name.
  static document::TableCell cell(const document::TableBlock& table, const std::string& row,
                                  const std::string& column) {
    std::size_t at = 0;
    while (at < table.columns.size() && table.columns[at].name != column) ++at;
    if (at == table.columns.size()) throw Error("no column " + column);
    for (const auto& cells : table.rows)
      for (const document::TableCell& one : cells)
        if (one.text.plain() == row) return cells[at];
    throw Error("no row " + row + " in " + table.id);
  }
  /// Returns the name that a candidate of the key has in other places.
  static std::string letter(const document::Document& document, const std::string& name,
                            const std::string& question = "test-f1") {
    return cell(table(document, "answer-" + question), name, "candidate").text.plain();
  }
  static std::string text_of(const document::Document& document) { return document::json_text(document); }
};

}  // namespace encore::testing
