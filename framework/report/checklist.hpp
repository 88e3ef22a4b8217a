// SPDX-License-Identifier: BSD-3-Clause
// Checklist: the checklist that a venue asks authors for, with the answers that the record of runs has, their
// sources, and the questions that remain for a person. `exp report --checklist` (cli/report_verb.cpp) calls
// make_checklist() and writes checklist_document(). The questions are reworded; the original list and its
// year are named with them. An answer may state only what was recorded. Read next: checklist_items.cpp (the
// lists), checklist_facts.hpp (the answers).
#pragma once

#include <string>
#include <vector>

#include "document/document.hpp"
#include "report/report.hpp"

namespace encore::report {

struct ReportData;

struct ChecklistItem {
  std::string number;    ///< as the list has it: "7", "C2"
  std::string title;     ///< "Statistical significance"
  std::string question;  ///< reworded
  /// Sentences from the record; empty: the record has no answer.
  std::vector<std::string> answers = {};
  std::vector<std::string> where = {};  ///< sections of the report, tables, files
  std::string person = {};              ///< what a person must answer; empty: nothing
};

struct Checklist {
  std::string name;     ///< "neurips"
  std::string title;    ///< "NeurIPS paper checklist"
  std::string source;   ///< "the list of 2025, with 16 items"
  std::string subject;  ///< the runs: "sweep wnut17"
  std::vector<ChecklistItem> items;

  std::size_t answered() const;  ///< items with an answer of the record
};

/// Returns the names that --checklist accepts: "neurips", "acl", "mlperf".
const std::vector<std::string>& checklist_names();

/// Fills the checklist for the runs and the metric of a report. Throws as make_report does, and Error for an
/// unknown name.
Checklist make_checklist(store::Store& store, const ReportOptions& options, const std::string& name);

/// Returns the document that the writers of document/ write.
document::Document checklist_document(const Checklist& checklist);

/// Throws Error, with the nearest name, if there is no checklist of this name.
void require_checklist(const std::string& name);
/// Fills the checklist from the data of a report; make_checklist() (report.cpp) reads the data and calls it.
/// Throws Error like require_checklist().
Checklist fill_checklist(const ReportData& data, const std::string& name);

}  // namespace encore::report
