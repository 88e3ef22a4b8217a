// SPDX-License-Identifier: BSD-3-Clause
// The sections of a report, one function and one file for each. report.cpp calls those that are wanted, in
// the order of its table. Every function only reads the data (report_data.hpp). Ids of sections, tables and
// figures are names in CSV, JSON and links, so they stay. report.cpp leaves out an empty section; what was
// not recorded is reported as missing.
#pragma once

#include <cstddef>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "analysis/search_view.hpp"
#include "document/document.hpp"
#include "report/report_data.hpp"

namespace encore::report {

/// abstract.cpp: the question, the runs, the answer with its uncertainty, and whether it was verified.
std::vector<document::Block> abstract_blocks(const ReportData& data);
/// Facts for the title page: names and values.
std::vector<std::pair<std::string, std::string>> title_facts(const ReportData& data);

/// results.cpp: for each question the answer, its tests, and notices about them.
document::Section results_section(const ReportData& data);
/// The answers alone, with one picture, for a brief report.
document::Section brief_results_section(const ReportData& data);
/// Notices, table and picture of a question.
std::vector<document::Block> answer_blocks(const ReportData& data, const Question& question);
/// answer.cpp: each candidate, its mean and its test; if it has many options, these are in a table of their
/// own.
std::vector<document::TableBlock> answer_tables(const ReportData& data, const Question& question);
/// Returns whether there is more than one value to draw.
bool has_picture(const Question& question);
document::Figure answer_figure(const Question& question);
/// numbers.cpp: the numbers behind the answer, for checking.
document::TableBlock candidate_table(const ReportData& data, const Question& question);
document::TableBlock pair_table(const ReportData& data, const Question& question);
/// measures.cpp: mean and deviation of all measures.
document::Section measures_section(const ReportData& data);
/// trials.cpp: the number of trials, how one is chosen, and the expected best of n.
document::Section trials_section(const ReportData& data);
/// searches.cpp: the cost of the searches that proposed these runs, the scores of their winners, and
/// the influence of the parameters.
document::Section searches_section(const ReportData& data);
/// The cost and the best trials alone, for a brief report.
document::Section brief_searches_section(const ReportData& data);
/// search_pictures.cpp: importance, every parameter against the score, two at once (search_maps.cpp), and all
/// together.
std::vector<document::Block> search_pictures(const ReportData& data, const analysis::SearchView& view,
                                             const std::string& id);
/// classes.cpp: precision, recall and F1 of each class; confused classes.
document::Section classes_section(const ReportData& data);
/// calibration.cpp: the stated confidence against the share of right answers.
document::Section calibration_section(const ReportData& data);
/// curves.cpp: measurements over the steps, with a band over seeds.
document::Section curves_section(const ReportData& data);
/// The score that chooses checkpoints alone; empty if it was not recorded.
std::optional<document::Figure> score_figure(const ReportData& data);
/// sweep_pictures.cpp: the influence of the parameters on the score, and the times of the runs.
document::Section sweep_section(const ReportData& data);
/// examples.cpp: sentences with correct, wrong and missed predictions.
document::Section examples_section(const ReportData& data);
/// attention.cpp: the attention of heads in examples that a run of the best candidate recorded.
document::Section attention_section(const ReportData& data);
/// service.cpp: the inputs of a server, compared with the development set.
document::Section service_section(const ReportData& data);
/// method.cpp: model, training and settings.
document::Section method_section(const ReportData& data);
/// data.cpp: files, sizes, lengths, labels, cut examples. Part of the method.
document::Section data_section(const ReportData& data);
/// environment.cpp: code, build, machines, plugins, compute.
document::Section environment_section(const ReportData& data);
/// reproduction.cpp: commands, digests, verdicts, and facts that were not recorded.
document::Section reproduction_section(const ReportData& data);
/// commands.cpp: the commands and the experiment files, part of the reproduction.
document::Section command_section(const ReportData& data);
/// The commands on half a page, for a brief report.
document::Section brief_reproduction_section(const ReportData& data);
/// against.cpp: another set of runs, compared with this one.
document::Section against_section(const ReportData& data, const ReportData& old, const std::string& what);

/// report.cpp: adds a section unless it is empty.
void add_section(std::vector<document::Section>& sections, document::Section section);

// Pictures and blocks that the sections above ask for.

/// architecture.cpp, for method.cpp: the architecture of a run's model, from its settings and from the
/// parameters that its worker counted. Returns nothing if the run has no model settings of the kind that is
/// drawn (a list of sub-layers).
std::optional<document::FlowChart> architecture_of(const ReportData& data, const store::RunRow& run);
/// timeline.cpp, for sweep_pictures.cpp: the attempts of the runs over time, on lanes. A host has as many
/// lanes as it had attempts at once. Attempts whose end was not recorded have no bar; `untimed` counts them.
document::TimelineChart timeline_of(const ReportData& data, std::size_t& untimed);
/// search_budget.cpp, for searches.cpp: the return on the budget of a search: the best score so far against
/// the number of trainings, beside the expected best of independent random draws of the same space. Returns
/// no blocks for a search with several objectives. Random draws are taken from all `searches` of the same
/// space and experiment.
std::vector<document::Block> budget_blocks(const ReportData& data, const analysis::SearchView& view,
                                           const std::deque<analysis::SearchView>& searches,
                                           const std::string& id);

}  // namespace encore::report
