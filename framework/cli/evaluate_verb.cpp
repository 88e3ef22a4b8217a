// SPDX-License-Identifier: BSD-3-Clause
// exp evaluate: prints the scores of models on a file. app/evaluate.cpp gets them from workers,
// evaluation_text.hpp prints them; help_verb.cpp lists the verb. --json prints the worker's answer
// (record/evaluate_answer.hpp), whose members keep their names.
#include "app/evaluate.hpp"

#include "cli/evaluation_text.hpp"
#include "cli/verbs.hpp"

namespace encore::cli {

namespace {

int evaluate_verb(const app::EvaluateRequest& request, app::App& app, Console& console) {
  bool first = true;
  const app::EvaluateResult evaluation = app::evaluate(request, app, [&](const app::RunScores& scores) {
    if (request.json) return;
    if (request.csv) {
      console.out << (first ? evaluation_columns : "") << evaluation_csv(scores.run, scores.answer)
                  << std::flush;
      first = false;
      return;
    }
    console.out << (first ? "" : "\n") << evaluation_text(scores.run, scores.answer, console.terminal)
                << std::flush;
    first = false;
  });
  if (request.json) {
    using Json = nlohmann::ordered_json;
    Json list = Json::array();
    for (const auto& [run, answer] : evaluation.runs)
      list.emplace_back(evaluation.one ? Json::object() : Json{{"run", run}})
          .update(Json(to_json_object(answer)));
    console.print(evaluation.one ? list.front() : list);
  } else if (!request.csv && evaluation.runs.size() > 1) {
    console.out << '\n' << evaluation_summary(evaluation.runs, console.terminal);
  }
  return exit_done;
}

}  // namespace

Verb evaluate_verb() {
  return make_verb("evaluate", "score a run's best model on a file", app::evaluate_form, evaluate_verb);
}

}  // namespace encore::cli
