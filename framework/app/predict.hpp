// predict and generate: how the worker of a run is started that answers about input, or generates text.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/run_plugins.hpp"
#include "record/generate_request.hpp"

namespace encore {

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

/// Options of decoding that are not written are those of the task.
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

/// A worker that answers as the user asked, and reads its input from the standard input.
struct ModelCall {
  TrainedRun run;
  std::vector<std::string> arguments;
  std::string best_of = {};  ///< the measure by which the run was chosen; empty: it was named
  std::string reader = {};   ///< the format in which answers are written, where it is that of the run's data
};
ModelCall predict_call(const PredictRequest& request, const App& app);
ModelCall generate_call(const GenerateTextRequest& request, const App& app);
/// What the worker of generate reads.
std::string generate_input(const GenerateTextRequest& request, std::vector<std::string> prompts);

}  // namespace encore
