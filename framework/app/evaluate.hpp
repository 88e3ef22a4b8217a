// SPDX-License-Identifier: BSD-3-Clause
// evaluate(): scores the best checkpoints of runs on a file, for `exp evaluate`. A worker computes the scores
// of each run and answers in JSON (worker_answer.hpp, record/evaluate_answer.hpp); cli/evaluate_verb.cpp
// prints them. Only --reference stores something: the file's numbers as the run's reference for `exp
// monitor`.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "app/run_plugins.hpp"
#include "record/evaluate_answer.hpp"

namespace encore::app {

struct EvaluateRequest {
  std::vector<std::string> with;  ///< more files of the set
  int beam = 0;                   ///< 0: that of the run's training
  bool reference = false;         ///< also store the reference for `exp monitor`
  bool json = false;
  bool csv = false;
  ModelRequest model;
  SelectionRequest selection;  ///< the last word is the file
};

Form<EvaluateRequest> evaluate_form();

struct RunScores {
  std::string run;                ///< name
  record::EvaluateAnswer answer;  ///< as the worker gave it
};
struct EvaluateResult {
  std::vector<RunScores> runs;
  bool one = false;  ///< the user asked for exactly one run; --json then prints an object, not a list
};
/// Scores the selected runs in order, and calls `scored` after each. Throws Error at the first worker that
/// fails, or WorkError if references of runs before it have been stored; the runs after it are not scored.
EvaluateResult evaluate(const EvaluateRequest& request, const App& app,
                        const std::function<void(const RunScores&)>& scored);

}  // namespace encore::app
