// The checklists of venues: what the record of runs can answer of them, with where it stands, and what is
// left for a person. The questions are in words of our own; the list and its year are named with them. Place
// in the flow: `exp report --checklist` asks here. Read next: checklist_items.cpp (the lists),
// checklist_facts.hpp (the answers).
#pragma once

#include <string>
#include <vector>

#include "document/document.hpp"
#include "report/report.hpp"

namespace encore {

struct ChecklistItem {
  std::string number;    ///< as the list has it: "7", "C2"
  std::string title;     ///< "Statistical significance"
  std::string question;  ///< what is asked
  /// From the record; empty: it says nothing of it.
  std::vector<std::string> answers = {};
  std::vector<std::string> where = {};  ///< sections of the report, tables, files
  std::string person = {};              ///< what somebody has to answer; empty: nothing
};

struct Checklist {
  std::string name;    ///< "neurips"
  std::string title;   ///< "NeurIPS paper checklist"
  std::string source;  ///< of which year it is, and what to compare with
  std::string subject;
  std::vector<ChecklistItem> items;

  std::size_t answered() const;  ///< items of which the record says something
};

/// "neurips", "acl", "mlperf"
const std::vector<std::string>& checklist_names();

/// Of the runs and the metric of a report. Throws as make_report does, and Error for a name that is none.
Checklist make_checklist(Store& store, const ReportOptions& options, const std::string& name);

Document checklist_document(const Checklist& checklist);

}  // namespace encore
