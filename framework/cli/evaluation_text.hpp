// What `exp evaluate` prints of a worker's answer, for any task: the answer carries what its measures mean.
#pragma once

#include <string>
#include <vector>

#include "app/evaluate.hpp"
#include "cli/terminal.hpp"

namespace encore {

/// One run: what was counted, a table of labels where there are measures of labels, all other measures,
/// notes.
std::string evaluation_text(const std::string& run, const EvaluateAnswer& answer, const Terminal& terminal);

/// The lines of a CSV with the columns of `evaluation_columns`; a measure over all labels has an empty label.
std::string evaluation_csv(const std::string& run, const EvaluateAnswer& answer);
inline constexpr const char* evaluation_columns = "run,measure,label,value\n";

/// A line for each of several runs, with the measures that are not of single labels.
std::string evaluation_summary(const std::vector<RunScores>& answers, const Terminal& terminal);

}  // namespace encore
