// SPDX-License-Identifier: BSD-3-Clause
// evaluate: scores the best checkpoints of runs on a file. The worker computes the scores and answers in JSON
// (worker_answer.hpp); cli/evaluate_verb.cpp prints them.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "app/run_plugins.hpp"
#include "record/evaluate_answer.hpp"

namespace encore::app {

struct EvaluateRequest {
  std::vector<std::string> with;
  int beam = 0;
  bool reference = false;
  bool json = false;
  bool csv = false;
  ModelRequest model;
  SelectionRequest selection;  ///< the last word is the file
};

Form<EvaluateRequest> evaluate_form();

struct RunScores {
  std::string run;  ///< name
  record::EvaluateAnswer answer;
};
struct EvaluateResult {
  std::vector<RunScores> runs;
  bool one = false;  ///< exactly one was asked for
};
/// Scores the selected runs, and calls `scored` after each.
EvaluateResult evaluate(const EvaluateRequest& request, const App& app,
                        const std::function<void(const RunScores&)>& scored);

}  // namespace encore::app
