// The sections of a report, one file each. Every function only reads the material; a section without anything
// to say is empty and left out, but what was not recorded is said.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analysis/search_view.hpp"
#include "document/document.hpp"
#include "report/material.hpp"

namespace encore {

/// abstract.cpp: what was asked, what was run, the answer with its uncertainty, whether it was verified.
std::vector<Block> abstract_blocks(const Material& material);
std::vector<std::pair<std::string, std::string>> title_facts(const Material& material);

/// results.cpp: per question the answer, what was tested, what must be known to read it.
Section results_section(const Material& material);
/// The answers alone, with one picture.
Section brief_results_section(const Material& material);
/// Notices, table and picture of a question.
std::vector<Block> answer_blocks(const Material& material, const Question& question);
/// answer.cpp: what each candidate is, its mean and its test; the key in a table of its own where it is wide.
std::vector<TableBlock> answer_tables(const Material& material, const Question& question);
/// Whether there is more to draw than one value.
bool has_picture(const Question& question);
Figure answer_figure(const Question& question);
/// numbers.cpp: what is behind the answer, for checking.
TableBlock candidate_table(const Material& material, const Question& question);
TableBlock pair_table(const Material& material, const Question& question);
/// measures.cpp: mean and deviation of everything that was measured.
Section measures_section(const Material& material);
/// trials.cpp: every trial counted, how one is chosen, what the best of n is to be expected.
Section trials_section(const Material& material);
/// searches.cpp: what the searches that proposed these runs cost, what their winners' scores are worth, and
/// what the parameters have to do with them.
Section searches_section(const Material& material);
/// Cost and winners alone.
Section brief_searches_section(const Material& material);
/// search_pictures.cpp: importance, every parameter against the score, two at once (search_maps.hpp), and all
/// together.
std::vector<Block> search_pictures(const Material& material, const SearchView& view, const std::string& id);
/// classes.cpp: precision, recall and F1 of each class; what was taken for what.
Section classes_section(const Material& material);
/// curves.cpp: measurements over the steps, with a band over seeds.
Section curves_section(const Material& material);
/// Of the score that chooses checkpoints alone; nothing where it was not recorded.
std::optional<Figure> score_figure(const Material& material);
/// sweep_pictures.cpp: what the parameters have to do with the score, and when what was run.
Section sweep_section(const Material& material);
/// examples.cpp: sentences with what was right, wrong and missed.
Section examples_section(const Material& material);
/// attention.cpp: what heads look at in texts that the best candidate has kept.
Section attention_section(const Material& material);
/// service.cpp: the texts that a server has got, beside the development set.
Section service_section(const Material& material);
/// method.cpp: model, training and settings.
Section method_section(const Material& material);
/// data.cpp: files, sizes, lengths, labels, what was cut. Part of the method.
Section data_section(const Material& material);
/// environment.cpp: code, build, machines, plugins, compute.
Section environment_section(const Material& material);
/// reproduction.cpp: commands, digests, verdicts, and what was not recorded.
Section reproduction_section(const Material& material);
/// commands.cpp: the commands and the experiment files, part of the reproduction.
Section command_section(const Material& material);
/// The same on half a page.
Section brief_reproduction_section(const Material& material);
/// against.cpp: another set of runs beside this one.
Section against_section(const Material& material, const Material& old, const std::string& what);

/// Everything of a section that says something.
void add_section(std::vector<Section>& sections, Section section);

}  // namespace encore
