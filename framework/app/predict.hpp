// SPDX-License-Identifier: BSD-3-Clause
// predict and generate: find the run, check the request, and make the arguments of the worker that predicts
// or generates text. cli/predict_verb.cpp then replaces exp by this worker.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/run_plugins.hpp"
#include "record/generate_request.hpp"

namespace encore::app {

struct PredictRequest {
  std::string file;
  std::string format = "text";
  bool json = false;
  bool scores = false;
  ModelRequest model;
  SelectionRequest selection;
  std::string run;
  std::vector<std::string> text;
};

/// Decoding options that are not given are those of the task.
struct GenerateTextRequest {
  std::string file;
  std::optional<std::int64_t> max_tokens;
  std::optional<double> temperature;
  std::optional<std::int64_t> top_k;
  std::optional<double> top_p;
  std::optional<std::int64_t> seed;
  std::optional<std::int64_t> beam;
  std::optional<double> length_penalty;
  std::optional<std::int64_t> texts;
  std::optional<double> repetition_penalty;
  std::vector<std::string> stop;
  bool json = false;
  ModelRequest model;
  SelectionRequest selection;
  std::string run;
  std::vector<std::string> text;
};

Form<PredictRequest> predict_form();
Form<GenerateTextRequest> generate_form();

/// The call of a worker that predicts as requested and reads its input from standard input.
struct ModelCall {
  TrainedRun run;
  std::vector<std::string> arguments;
  std::string best_of = {};  ///< the measure that selected the run; empty: the user named it
  std::string reader = {};   ///< the format of the answers, if it is that of the run's data
};
ModelCall predict_call(const PredictRequest& request, const App& app);
ModelCall generate_call(const GenerateTextRequest& request, const App& app);
/// Returns the input of the worker of generate.
std::string generate_input(const GenerateTextRequest& request, std::vector<std::string> prompts);

}  // namespace encore::app
