// evaluate: scores the best model of a run on a file; the worker does the work and answers in JSON.
#include <iostream>

#include <nlohmann/json.hpp>

#include "cli/access.hpp"
#include "cli/command_line.hpp"
#include "cli/format.hpp"
#include "cli/run_plugins.hpp"
#include "cli/verbs.hpp"
#include "record/cores.hpp"
#include "runner/worker_process.hpp"

namespace encore {

namespace {

/// What a worker that refused its work has said, without its name in front and the line end behind.
std::string message_of(const ProgramOutput& answer) {
  const std::string prefix = "encore-worker: ";
  std::string text = answer.errors.starts_with(prefix) ? answer.errors.substr(prefix.size()) : answer.errors;
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text.empty() ? "the worker ended with " + answer.end.text() : text;
}

void print_result(const std::string& name, const nlohmann::json& result) {
  std::cout << name << " (step " << result.value("step", 0) << ") on " << result.value("file", "") << ": "
            << result.value("sentences", 0) << " sentences, " << result.value("words", 0) << " words\n\n"
            << result.value("table", "");
  if (result.value("cut_words", 0) > 0)
    std::cout << result["cut_words"]
              << " words were cut from sentences longer than max_length; entities in them count as missed\n";
  const auto unseen = result.find("unseen_entities");
  if (unseen == result.end()) return;
  for (const auto& [type, count] : unseen->items())
    std::cout << "type \"" << type << "\" is not in the training set: its " << count
              << " entities count as missed\n";
}

}  // namespace

int evaluate_verb(const Arguments& arguments) {
  namespace po = boost::program_options;
  CommandLine line("evaluate",
                   {"evaluate RUN FILE [options]",
                    "Scores the best model of a run on a file of the kind it was trained with (CoNLL).",
                    {{"exp evaluate quickstart experiments/corpus/test.conll",
                      "precision, recall and F1, per entity type and over all"}}});
  line.options()("json", po::bool_switch(), "as JSON, with the confusion matrix");
  line.options()("backend", po::value<std::string>()->value_name("NAME"),
                 "openmp, cuda or hip (default: that of the run)");
  add_run_plugin_option(line);
  line.options()("threads", po::value<int>()->value_name("N")->default_value(0),
                 "threads; 0: all this process may use");
  line.positional("run");
  line.positional("file");
  if (!line.parse(arguments)) return exit_done;

  const std::string name = line.required("run", "a run");
  const std::string file = line.required("file", "a file to score");
  require_threads(line.integer("threads"));
  const TrainedRun run = find_trained_run(line, name, line.text("backend"));
  const ProgramOutput answer = run_program(
      run.worker, worker_arguments(line, run, "evaluate",
                                   {"--file", file, "--threads", std::to_string(line.integer("threads"))}));
  if (answer.end.signal != 0) throw Error("the worker ended with " + answer.end.text());
  if (!answer.end.success()) throw Error(message_of(answer));
  std::cerr << answer.errors;
  if (line.flag("json")) {
    std::cout << answer.output;
    return exit_done;
  }
  print_result(run.name, nlohmann::json::parse(answer.output));
  return exit_done;
}

}  // namespace encore
