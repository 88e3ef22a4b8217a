// SPDX-License-Identifier: BSD-3-Clause
// `exp quantize`: starts a worker for each run that writes its weights as integers into a file of their own
// (worker_answer.hpp). cli/quantize_verb.cpp calls quantize() and prints the results. The arguments are a
// contract with worker/quantize_verb.cpp. Read next: quantize.hpp.
#include "app/quantize.hpp"

#include "app/worker_answer.hpp"
#include "config/value.hpp"

namespace encore::app {

Form<QuantizeRequest> quantize_form() {
  using R = QuantizeRequest;
  return Form<R>("quantize",
                 {"quantize RUN... [options]",
                  "Writes a copy of the best model of each run with matrices of 8-bit integers: a quarter of "
                  "the space (--bits 4: about a seventh), and faster products, for predict, evaluate, "
                  "generate, attention, embed and serve with --int8. Matrices that raise the development "
                  "loss by more than the tolerance are not rounded. The trained weights are not changed.",
                  {{"exp quantize quickstart",
                    "write weights_int8.safetensors, and print the change of the scores"},
                   {"exp quantize minilm_wnut17 --best dev/f1", "the best run of a sweep"},
                   {"exp quantize quickstart --keep head --tolerance 0.05",
                    "do not round the head; the loss may grow by 5 %"},
                   {"exp quantize shakespeare --bits 4",
                    "half of this size, for a decoder that generates text; see --int4"}}})
      .option("bits", &R::bits, "N",
              "8, or 4 with a scale for each 32 numbers; matrices that exceed the tolerance with 4 get 8")
      .option("tolerance", &R::tolerance, "SHARE",
              "largest relative growth of the loss; with --texts, largest change of a vector (1 - cosine)")
      .option("examples", &R::examples, "N",
              "decide by the first N examples of the development set or of --texts")
      .option("texts", &R::texts, "FILE",
              "decide by the vectors of these lines instead of the development loss: for an imported encoder "
              "without a development set")
      .option("keep", &R::keep, "PATH",
              "do not round these matrices: a parameter, or a part of the model such as head or encoder.0 "
              "(may be repeated)")
      .flag("json", &R::json,
            "print the decision for each matrix and the scores as JSON; a list for several runs")
      .flag("csv", &R::csv, "print the scores before and after as CSV")
      .include(&R::model, model_options())
      .include(&R::selection, run_arguments())
      .exclude("json", "csv")
      .range("tolerance", 0, 10, "invalid --tolerance {}: expected 0 to 10; 0.01 lets the loss grow by 1 %")
      .least("examples", 1, "invalid --examples {}: expected at least 1")
      .refuse([](const R& request) -> std::string {
        if (request.bits == 4 || request.bits == 8) return "";
        return "invalid --bits " + std::to_string(request.bits) + ": expected 8 or 4";
      });
}

QuantizeResult quantize(const QuantizeRequest& request, const App& app,
                        const std::function<void(const QuantizedRun&)>& written) {
  std::vector<std::string> options = {
      "--bits",     std::to_string(request.bits),     "--tolerance", config::shortest(request.tolerance),
      "--examples", std::to_string(request.examples), "--threads",   std::to_string(request.model.threads)};
  if (!request.texts.empty()) options.insert(options.end(), {"--texts", request.texts});
  for (const std::string& path : request.keep) options.insert(options.end(), {"--keep", path});
  const auto [runs, one] = find_trained_runs(app, selection_from(request.selection), request.model.backend);
  QuantizeResult result{.runs = {}, .one = one};
  for (const TrainedRun& run : runs) {
    try {
      result.runs.push_back({run.name, worker_answer<record::QuantizeAnswer>(
                                           app.events, run.worker,
                                           worker_arguments(app, request.model, run, "quantize", options))});
    } catch (const Error& error) {
      if (result.runs.empty()) throw;
      throw WorkError(error.what());  // runs before this one have been written
    }
    written(result.runs.back());
  }
  return result;
}

}  // namespace encore::app
