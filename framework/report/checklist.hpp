// SPDX-License-Identifier: BSD-3-Clause
// Checklist: the checklist of a venue: the answers that the record of runs has, with their sources, and the
// questions that remain for a person. `exp report --checklist` calls make_checklist(). The questions are
// reworded; the original list and its year are named with them. Read next: checklist_items.cpp (the lists),
// checklist_facts.hpp (the answers).
#pragma once

#include <string>
#include <vector>

#include "document/document.hpp"
#include "report/report.hpp"

namespace encore::report {

struct ChecklistItem {
  std::string number;    ///< as the list has it: "7", "C2"
  std::string title;     ///< "Statistical significance"
  std::string question;  ///< reworded
  /// Sentences from the record; empty: it has no answer.
  std::vector<std::string> answers = {};
  std::vector<std::string> where = {};  ///< sections of the report, tables, files
  std::string person = {};              ///< what a person must answer; empty: nothing
};

struct Checklist {
  std::string name;    ///< "neurips"
  std::string title;   ///< "NeurIPS paper checklist"
  std::string source;  ///< of which year it is, and what to compare with
  std::string subject;
  std::vector<ChecklistItem> items;

  std::size_t answered() const;  ///< items with an answer of the record
};

/// Returns "neurips", "acl", "mlperf".
const std::vector<std::string>& checklist_names();

/// Fills the checklist for the runs and the metric of a report. Throws as make_report does, and Error for an
/// unknown name.
Checklist make_checklist(store::Store& store, const ReportOptions& options, const std::string& name);

document::Document checklist_document(const Checklist& checklist);

}  // namespace encore::report
