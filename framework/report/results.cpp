// SPDX-License-Identifier: BSD-3-Clause
// The section "results": for each question the answer, then the numbers behind it; then all measures, classes
// and trials. report.cpp calls results_section(), or the brief form. Scores on different data never share a
// table or a test. Read sections.hpp first; answer.cpp and numbers.cpp have the tables.
#include "report/sections.hpp"
#include "report/wording.hpp"

namespace encore::report {

namespace {

/// The largest number of notices of a question; further ones are counted.
constexpr std::size_t most_notices = 6;

void add_notices(const Question& question, std::vector<document::Block>& blocks) {
  const std::vector<std::string>& notices = question.comparison.notices;
  for (std::size_t i = 0; i < std::min(most_notices, notices.size()); ++i)
    blocks.push_back(document::Notice{notices[i] + "."});
  if (notices.size() > most_notices)
    blocks.push_back(document::Notice{counted(notices.size() - most_notices, "more notice") +
                                      " of this kind; exp compare shows all."});
}

std::vector<document::Block> question_blocks(const ReportData& data, const Question& question) {
  std::vector<document::Block> blocks = answer_blocks(data, question);
  if (!question.comparison.pairs.empty()) blocks.push_back(pair_table(data, question));
  blocks.push_back(candidate_table(data, question));
  return blocks;
}

}  // namespace

std::vector<document::Block> answer_blocks(const ReportData& data, const Question& question) {
  std::vector<document::Block> blocks;
  add_notices(question, blocks);
  for (document::TableBlock& table : answer_tables(data, question)) blocks.push_back(std::move(table));
  if (has_picture(question)) blocks.push_back(answer_figure(question));
  return blocks;
}

document::Section brief_results_section(const ReportData& data) {
  constexpr std::size_t most_questions = 3;
  document::Section section{"results", "Results"};
  bool drawn = false;
  for (std::size_t i = 0; i < std::min(most_questions, data.questions.size()); ++i)
    for (document::Block& block : answer_blocks(data, data.questions[i])) {
      const bool figure = std::holds_alternative<document::Figure>(block);
      if (!figure || !drawn) section.blocks.push_back(std::move(block));
      drawn = drawn || figure;
    }
  if (data.questions.size() > most_questions)
    section.blocks.push_back(document::Paragraph{counted(data.questions.size() - most_questions, "more set") +
                                                 " of data are in the full report."});
  // A single value has nothing to be compared with, so its curve is drawn.
  if (!drawn)
    if (auto figure = score_figure(data)) section.blocks.push_back(std::move(*figure));
  return section;
}

document::Section results_section(const ReportData& data) {
  document::Section section{"results", "Results"};
  if (data.questions.size() > 1)
    section.blocks.push_back(document::Paragraph{
        "The runs were scored on " + std::to_string(data.questions.size()) +
        " sets of data. Scores on different sets are not compared: each set has its own table and its "
        "own tests."});
  for (const Question& question : data.questions)
    section.sections.push_back(
        {"results-of-" + question.id, question.title, question_blocks(data, question), {}});
  add_section(section.sections, measures_section(data));
  add_section(section.sections, classes_section(data));
  add_section(section.sections, calibration_section(data));
  add_section(section.sections, trials_section(data));
  return section;
}

}  // namespace encore::report
