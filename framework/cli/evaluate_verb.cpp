// evaluate: scores the best models of runs on a file; the worker does the work and answers in JSON.
#include <iostream>

#include <nlohmann/json.hpp>

#include "cli/access.hpp"
#include "cli/command_line.hpp"
#include "cli/evaluation_text.hpp"
#include "cli/run_plugins.hpp"
#include "cli/run_selection.hpp"
#include "cli/verbs.hpp"
#include "cli/worker_answer.hpp"
#include "record/text_reference.hpp"
#include "world/cores.hpp"

namespace encore {

namespace {

/// What the worker answers about one run.
nlohmann::ordered_json answer_of(const CommandLine& line, const TrainedRun& run,
                                 const std::vector<std::string>& files) {
  std::vector<std::string> more = {"--beam", std::to_string(line.integer("beam")), "--threads",
                                   std::to_string(line.integer("threads"))};
  if (line.flag("reference")) more.push_back("--reference");
  for (const std::string& file : files) more.insert(more.end(), {"--file", file});
  return worker_answer(run.worker, worker_arguments(line, run, "evaluate", more));
}

/// What training has recorded stays as it is.
void require_no_reference(const CommandLine& line, const std::vector<TrainedRun>& runs) {
  Store store(line.database(), OpenMode::read);
  for (const TrainedRun& run : runs)
    for (const ArtifactRow& artifact : store.read_artifacts(store.find_run(run.name).number))
      if (artifact.name == reference_artifact)
        throw UsageError("run " + run.name +
                         " has a reference, from its development set at the end of its training; leave "
                         "--reference out");
}

}  // namespace

int evaluate_verb(const Arguments& arguments) {
  namespace po = boost::program_options;
  CommandLine line(
      "evaluate",
      {"evaluate RUN... FILE [options]",
       "Scores the best model of each run on a file of the kind it was trained with.",
       {{"exp evaluate quickstart experiments/corpus/test.conll", "every measure, per label and over all"},
        {"exp evaluate --state completed experiments/corpus/test.conll --json",
         "all complete runs, as a list"}}});
  line.options()("with", po::value<std::vector<std::string>>()->value_name("FILE"),
                 "a further file of the set, such as the other side of parallel text (may be repeated)");
  line.options()("beam", po::value<int>()->value_name("N")->default_value(0),
                 "for tasks that have texts written: follow N of them; 0: as the run was trained with");
  line.options()(
      "reference", po::bool_switch(),
      "keep the numbers of this file's texts as what exp monitor compares requests with, for a run "
      "that has none from its training");
  line.options()("json", po::bool_switch(),
                 "as JSON, with what was taken for what; a list where several runs are meant");
  add_model_options(line);
  add_weights_option(line);
  add_run_arguments(line);
  if (!line.parse(arguments)) return exit_done;

  std::vector<std::string> words = line.texts("run");
  line.require("run", "a run and a file to score");
  std::vector<std::string> files = {words.back()};
  words.pop_back();
  for (const std::string& file : line.texts("with")) files.push_back(file);
  const RunSelection selection = selection_from(line, words);
  if (words.empty() && !selection.narrows())
    throw UsageError("exp evaluate needs a run and a file to score, and there is only \"" + files.front() +
                     "\"");
  if (line.integer("beam") < 0)
    throw UsageError("--beam is negative; 1 is greedy, more follows so many texts");
  require_threads(line.integer("threads"));
  const auto [runs, one] = find_trained_runs(line, selection);
  if (line.flag("reference")) require_no_reference(line, runs);
  std::vector<std::pair<std::string, nlohmann::ordered_json>> results;
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const TrainedRun& run : runs) {
    const nlohmann::ordered_json& result = results.emplace_back(run.name, answer_of(line, run, files)).second;
    if (line.flag("json")) {
      list.push_back({{"run", run.name}});
      list.back().update(result);
      continue;
    }
    if (&run != &runs.front()) std::cout << '\n';
    std::cout << evaluation_text(run.name, result, terminal_of(stdout));
  }
  if (line.flag("json"))
    std::cout << (one ? results.front().second : list).dump(2) << '\n';
  else if (results.size() > 1)
    std::cout << '\n' << evaluation_summary(results, terminal_of(stdout));
  return exit_done;
}

}  // namespace encore
