// SPDX-License-Identifier: BSD-3-Clause
// ReportTest: the fixture of the tests of make_report() (report/report.hpp). Its base,
// unit/analysis/replicates.hpp, stores runs: `tell` records one run, `tell_all` one run for each score, with
// seeds 1, 2 and so on. report() makes the report; the other functions find tables, figures and cells in it
// by their ids. Many tests expect the default values of its runs, so they stay.
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
  /// Returns the table with this id, or null.
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
  /// Returns the figure with this id, or null.
  static const document::Figure* figure(const document::Document& document, const std::string& id) {
    for (const document::Block* block : blocks_of(document))
      if (const auto* found = std::get_if<document::Figure>(block); found != nullptr && found->id == id)
        return found;
    return nullptr;
  }
  /// Returns the cell in `column` of the first row that has a cell with the text `row`.
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
  /// Returns the letter by which the report calls the candidate `name`.
  static std::string letter(const document::Document& document, const std::string& name,
                            const std::string& question = "test-f1") {
    return cell(table(document, "answer-" + question), name, "candidate").text.plain();
  }
  /// Returns the whole report as JSON, to search for words.
  static std::string text_of(const document::Document& document) { return document::json_text(document); }
};

}  // namespace encore::testing
