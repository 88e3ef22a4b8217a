// SPDX-License-Identifier: BSD-3-Clause
// Prints a worker's answer to `exp evaluate`, for any task: the answer contains the meanings of its measures.
// evaluate_verb.cpp calls it.
#pragma once

#include <string>
#include <vector>

#include "app/evaluate.hpp"
#include "cli/terminal.hpp"

namespace encore::cli {

/// Prints one run: counts, a table of labels if there are measures of labels, all other measures, and notes.
std::string evaluation_text(const std::string& run, const record::EvaluateAnswer& answer,
                            const Terminal& terminal);

/// The lines of a CSV with the columns of `evaluation_columns`; a measure over all labels has an empty label.
std::string evaluation_csv(const std::string& run, const record::EvaluateAnswer& answer);
inline constexpr const char* evaluation_columns = "run,measure,label,value\n";

/// Prints a line for each of several runs, without measures of single labels.
std::string evaluation_summary(const std::vector<app::RunScores>& answers, const Terminal& terminal);

}  // namespace encore::cli
