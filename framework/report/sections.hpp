// The sections of a report, one file each. Every function only reads the data; a section without anything
// to say is empty and left out, but what was not recorded is said.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analysis/search_view.hpp"
#include "document/document.hpp"
#include "report/report_data.hpp"

namespace encore {

/// abstract.cpp: what was asked, what was run, the answer with its uncertainty, whether it was verified.
std::vector<Block> abstract_blocks(const ReportData& data);
std::vector<std::pair<std::string, std::string>> title_facts(const ReportData& data);

/// results.cpp: per question the answer, what was tested, what must be known to read it.
Section results_section(const ReportData& data);
/// The answers alone, with one picture.
Section brief_results_section(const ReportData& data);
/// Notices, table and picture of a question.
std::vector<Block> answer_blocks(const ReportData& data, const Question& question);
/// answer.cpp: what each candidate is, its mean and its test; the key in a table of its own where it is wide.
std::vector<TableBlock> answer_tables(const ReportData& data, const Question& question);
/// Whether there is more to draw than one value.
bool has_picture(const Question& question);
Figure answer_figure(const Question& question);
/// numbers.cpp: what is behind the answer, for checking.
TableBlock candidate_table(const ReportData& data, const Question& question);
TableBlock pair_table(const ReportData& data, const Question& question);
/// measures.cpp: mean and deviation of everything that was measured.
Section measures_section(const ReportData& data);
/// trials.cpp: every trial counted, how one is chosen, what the best of n is to be expected.
Section trials_section(const ReportData& data);
/// searches.cpp: what the searches that proposed these runs cost, what their winners' scores are worth, and
/// what the parameters have to do with them.
Section searches_section(const ReportData& data);
/// Cost and winners alone.
Section brief_searches_section(const ReportData& data);
/// search_pictures.cpp: importance, every parameter against the score, two at once (search_maps.hpp), and all
/// together.
std::vector<Block> search_pictures(const ReportData& data, const SearchView& view, const std::string& id);
/// classes.cpp: precision, recall and F1 of each class; what was taken for what.
Section classes_section(const ReportData& data);
/// curves.cpp: measurements over the steps, with a band over seeds.
Section curves_section(const ReportData& data);
/// Of the score that chooses checkpoints alone; nothing where it was not recorded.
std::optional<Figure> score_figure(const ReportData& data);
/// sweep_pictures.cpp: what the parameters have to do with the score, and when what was run.
Section sweep_section(const ReportData& data);
/// examples.cpp: sentences with what was right, wrong and missed.
Section examples_section(const ReportData& data);
/// attention.cpp: what heads look at in texts that the best candidate has kept.
Section attention_section(const ReportData& data);
/// service.cpp: the texts that a server has got, beside the development set.
Section service_section(const ReportData& data);
/// method.cpp: model, training and settings.
Section method_section(const ReportData& data);
/// data.cpp: files, sizes, lengths, labels, what was cut. Part of the method.
Section data_section(const ReportData& data);
/// environment.cpp: code, build, machines, plugins, compute.
Section environment_section(const ReportData& data);
/// reproduction.cpp: commands, digests, verdicts, and what was not recorded.
Section reproduction_section(const ReportData& data);
/// commands.cpp: the commands and the experiment files, part of the reproduction.
Section command_section(const ReportData& data);
/// The same on half a page.
Section brief_reproduction_section(const ReportData& data);
/// against.cpp: another set of runs beside this one.
Section against_section(const ReportData& data, const ReportData& old, const std::string& what);

/// Everything of a section that says something.
void add_section(std::vector<Section>& sections, Section section);

}  // namespace encore
