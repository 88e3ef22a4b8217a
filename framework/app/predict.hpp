// SPDX-License-Identifier: BSD-3-Clause
// predict_call() and generate_call(): find the run of `exp predict` or `exp generate`, check the request, and
// make the arguments of the worker that does the work. cli/predict_verb.cpp calls them and then replaces exp
// by this worker; for generate it first makes generate_input() the standard input. The other side of
// arguments and input is worker/predict_verb.cpp and worker/generate_verb.cpp: change both together.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/run_plugins.hpp"
#include "record/generate_request.hpp"

namespace encore::app {

/// The options of `exp predict`.
struct PredictRequest {
  std::string file;             ///< read inputs from it; "-" and empty: standard input
  std::string format = "text";  ///< "text", "jsonl", or the format of the run's data
  std::string output;           ///< write the answers to this file; empty: standard output
  bool json = false;
  bool scores = false;  ///< add probabilities to the answers
  bool trace = false;   ///< name the steps of an application below its answers
  ModelRequest model;
  SelectionRequest selection;
  std::string run;                ///< the first argument: a word that selects one run
  std::vector<std::string> text;  ///< inputs from the command line; empty: `file` is read
};

/// The options of `exp generate`. Decoding options that are not given are those of the task.
struct GenerateTextRequest {
  std::string file;  ///< read prompts from it, one a line; "-" and empty: standard input
  std::optional<std::int64_t> max_tokens;
  std::optional<double> temperature;
  std::optional<std::int64_t> top_k;
  std::optional<double> top_p;
  std::optional<std::int64_t> seed;
  std::optional<std::int64_t> beam;
  std::optional<double> length_penalty;
  std::optional<std::int64_t> texts;  ///< number of outputs for each prompt
  std::optional<double> repetition_penalty;
  std::vector<std::string> stop;  ///< the output ends before the first of these
  bool json = false;              ///< the outputs with scores, at the end
  ModelRequest model;
  SelectionRequest selection;
  std::string run;                ///< the first argument: a word that selects one run
  std::vector<std::string> text;  ///< prompts from the command line; empty: `file` is read
};

Form<PredictRequest> predict_form();
Form<GenerateTextRequest> generate_form();

/// The run and the arguments with which its worker is started. The worker reads inputs from its standard
/// input.
struct ModelCall {
  TrainedRun run;
  std::vector<std::string> arguments;  ///< of the worker: "predict --run-folder DIR ..."
  std::string best_of = {};            ///< the measure that selected the run; empty: the user named it
  std::string reader = {};  ///< the format of the run's data, if the answers are written in it; else empty
};
/// Throws UsageError, UnknownRun or Error; asks for consent to a plugin that is not trusted
/// (run_plugins.hpp).
ModelCall predict_call(const PredictRequest& request, const App& app);
ModelCall generate_call(const GenerateTextRequest& request, const App& app);
/// Returns what the worker reads from its standard input: the decoding options and all prompts, as
/// record/generate_request.hpp writes them. `prompts` are request.text, or the lines of the file.
std::string generate_input(const GenerateTextRequest& request, std::vector<std::string> prompts);

}  // namespace encore::app
