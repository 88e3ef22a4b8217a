// SPDX-License-Identifier: BSD-3-Clause
// The facts with which the record of runs answers questions of a checklist: each is a sentence and its
// source. Each function returns nothing if nothing was recorded. checklist_items.cpp names them beside the
// questions, checklist.cpp calls them. A function must not guess: without a record there is no answer.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "report/report_data.hpp"

namespace encore::report {

/// An answer, and the sections, tables and files that show it.
struct ChecklistFact {
  std::string text;
  std::vector<std::string> where;
};

using FactOf = std::optional<ChecklistFact> (*)(const ReportData& data);

std::optional<ChecklistFact> data_fact(const ReportData& data);      ///< files, examples, SHA-256
std::optional<ChecklistFact> privacy_fact(const ReportData& data);   ///< marked as private
std::optional<ChecklistFact> settings_fact(const ReportData& data);  ///< values of all settings
std::optional<ChecklistFact> choice_fact(const ReportData& data);    ///< how many runs, how one was chosen
std::optional<ChecklistFact> best_fact(const ReportData& data);      ///< the best candidate and its settings
std::optional<ChecklistFact> spread_fact(const ReportData& data);    ///< seeds, intervals, tests
std::optional<ChecklistFact> seeds_fact(const ReportData& data);     ///< which seeds
std::optional<ChecklistFact> machine_fact(const ReportData& data);   ///< on which machines
std::optional<ChecklistFact> time_fact(const ReportData& data);      ///< of all attempts, failed ones too
std::optional<ChecklistFact> run_time_fact(const ReportData& data);  ///< of one run
std::optional<ChecklistFact> size_fact(const ReportData& data);      ///< parameters
std::optional<ChecklistFact> code_fact(const ReportData& data);      ///< commit and changes
std::optional<ChecklistFact> software_fact(const ReportData& data);  ///< builds, plugins, environments
std::optional<ChecklistFact> text_fact(const ReportData& data);      ///< tokenizer, lengths
std::optional<ChecklistFact> evaluation_fact(const ReportData& data);  ///< how often dev was scored
std::optional<ChecklistFact> proof_fact(const ReportData& data);       ///< digests, verifications, bundle
std::optional<ChecklistFact> start_fact(const ReportData& data);       ///< weights of other models
std::optional<ChecklistFact> log_fact(const ReportData& data);         ///< the records of each attempt

}  // namespace encore::report
