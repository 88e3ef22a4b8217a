// SPDX-License-Identifier: BSD-3-Clause
// `exp evaluate`: starts a worker for each run to score its model on the user's file (worker_answer.hpp).
// cli/evaluate_verb.cpp calls evaluate() and prints the scores. The reference of a run's training must never
// be replaced, since monitoring compares with it. Read next: evaluate.hpp.
#include "app/evaluate.hpp"

#include "app/worker_answer.hpp"
#include "record/text_reference.hpp"

namespace encore::app {

namespace {

/// Refuses --reference for a run that has one from its training, which stays as it is.
void require_no_reference(const App& app, const std::vector<TrainedRun>& runs) {
  store::Store store(app.database, store::OpenMode::read);
  for (const TrainedRun& run : runs)
    for (const store::ArtifactRow& artifact : store.read_artifacts(store.find_run(run.name).number))
      if (artifact.name == record::reference_artifact)
        throw UsageError("run " + run.name +
                         " already has a reference from its development set; remove --reference");
}

}  // namespace

Form<EvaluateRequest> evaluate_form() {
  using R = EvaluateRequest;
  return Form<R>("evaluate",
                 {"evaluate RUN... FILE [options]",
                  "Scores the best model of each run on a file in the format of its training data.",
                  {{"exp evaluate quickstart experiments/corpus/test.conll",
                    "print every measure, per label and over all"},
                   {"exp evaluate --state completed experiments/corpus/test.conll --json",
                    "score all complete runs, as a list"}}})
      .option("with", &R::with, "FILE",
              "a further file of the set, such as the other side of parallel text (may be repeated)")
      .option("beam", &R::beam, "N",
              "for tasks that generate text: number of beams; 0: the value of the run's training")
      .flag("reference", &R::reference,
            "store the numbers of this file as the reference of exp monitor, for a run without one from its "
            "training")
      .flag("json", &R::json, "print JSON, with the confusion counts; a list for several runs")
      .flag("csv", &R::csv, "print CSV: a line for each run, measure and label")
      .include(&R::model, weights_options())
      .include(&R::selection, run_arguments())
      .exclude("json", "csv")
      .least("beam", 0, "invalid --beam {}: expected 0, 1 for greedy decoding, or a larger number of beams")
      .refuse([](const R& request) -> std::string {
        const std::vector<std::string>& words = request.selection.runs;
        if (words.empty())
          return "exp evaluate needs a run and a file to score (exp evaluate -h shows an example)";
        if (words.size() == 1 && !selection_from(request.selection, {}).narrows())
          return "exp evaluate needs a run and a file to score, but has only \"" + words.front() + "\"";
        return "";
      });
}

EvaluateResult evaluate(const EvaluateRequest& request, const App& app,
                        const std::function<void(const RunScores&)>& scored) {
  std::vector<std::string> words = request.selection.runs;
  std::vector<std::string> more = {"--beam", std::to_string(request.beam), "--threads",
                                   std::to_string(request.model.threads)};
  if (request.reference) more.emplace_back("--reference");
  more.insert(more.end(), {"--file", words.back()});
  words.pop_back();
  for (const std::string& file : request.with) more.insert(more.end(), {"--file", file});
  const auto [runs, one] = find_trained_runs(app, selection_from(request.selection, words),
                                             request.model.backend, Takes::applications);
  if (request.reference) require_no_reference(app, runs);
  EvaluateResult evaluation{.runs = {}, .one = one};
  for (const TrainedRun& run : runs) {
    try {
      evaluation.runs.push_back({run.name, worker_answer<record::EvaluateAnswer>(
                                               app.events, run.worker,
                                               worker_arguments(app, request.model, run, "evaluate", more))});
    } catch (const Error& error) {
      if (!request.reference || evaluation.runs.empty()) throw;
      throw WorkError(error.what());  // references of runs before this one have been stored
    }
    scored(evaluation.runs.back());
  }
  return evaluation;
}

}  // namespace encore::app
