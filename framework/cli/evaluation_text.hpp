// SPDX-License-Identifier: BSD-3-Clause
// evaluation_text() and its siblings: a worker's answer to `exp evaluate` as text and CSV, for a model of any
// task: the answer contains the meanings of its measures. evaluate_verb.cpp calls them. Programs read the
// CSV: evaluation_columns and the meaning of a column never change; the text may.
#pragma once

#include <string>
#include <vector>

#include "app/evaluate.hpp"
#include "cli/terminal.hpp"

namespace encore::cli {

/// Returns the text about one run: counts, a table of labels if there are measures of labels, all other
/// measures, and notes. `run` is its name.
std::string evaluation_text(const std::string& run, const record::EvaluateAnswer& answer,
                            const Terminal& terminal);

/// Returns the CSV lines of one run, without the head line: each measure of the answer, with all its digits.
/// A measure over all labels has an empty label.
std::string evaluation_csv(const std::string& run, const record::EvaluateAnswer& answer);
/// The head line of the CSV, which the caller prints once before the lines of all runs. It ends with a line
/// break.
inline constexpr const char* evaluation_columns = "run,measure,label,value\n";

/// Returns a table with a row for each of several runs, without measures of single labels.
std::string evaluation_summary(const std::vector<app::RunScores>& answers, const Terminal& terminal);

}  // namespace encore::cli
