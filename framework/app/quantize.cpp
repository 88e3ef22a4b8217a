// Has the worker of each run write its weights once more.
#include "app/quantize.hpp"

#include "app/worker_answer.hpp"
#include "config/value.hpp"

namespace encore {

Form<QuantizeRequest> quantize_form() {
  using R = QuantizeRequest;
  return Form<R>("quantize",
                 {"quantize RUN... [options]",
                  "Writes the best model of each run once more, with matrices of 8-bit integers: a quarter "
                  "of the space (with --bits 4 an eighth), and faster products, for predict, evaluate, "
                  "generate, embed and serve with --int8. Matrices that cost the development set's loss "
                  "more than is tolerated stay as they are. What was trained is not touched.",
                  {{"exp quantize quickstart",
                    "writes weights_int8.safetensors, and says what it does to the scores"},
                   {"exp quantize minilm_wnut17 --best dev/f1", "the best run of a sweep"},
                   {"exp quantize quickstart --keep head --tolerance 0.05",
                    "the head stays as it is, and the loss may grow by a twentieth"},
                   {"exp quantize shakespeare --bits 4",
                    "half of that again, for a decoder that writes texts; see --int4"}}})
      .option("bits", &R::bits, "N",
              "8, or 4 with a scale for each 32 numbers; matrices that cost too much with 4 get 8")
      .option("tolerance", &R::tolerance, "SHARE",
              "by what share of it the loss may grow; with --texts how far a vector may move (1 - cosine)")
      .option("examples", &R::examples, "N",
              "the first N examples of the development set, or of the texts, decide what is rounded")
      .option("texts", &R::texts, "FILE",
              "decide by the vectors of these lines in place of the development set's loss: for an encoder "
              "that was imported and has no such set")
      .option("keep", &R::keep, "PATH",
              "matrices that stay as they are: a parameter, or a part of the model such as head or "
              "encoder.0 (may be repeated)")
      .flag("json", &R::json,
            "what was decided, matrix by matrix, and the scores, as JSON; a list where several runs are "
            "meant")
      .flag("csv", &R::csv, "the scores before and after, as CSV")
      .include(&R::model, model_options())
      .include(&R::selection, run_arguments())
      .exclude("json", "csv")
      .range("tolerance", 0, 10, "--tolerance must be from 0 to 10: 0.01 lets the loss grow by a hundredth")
      .least("examples", 1, "--examples must be at least 1")
      .refuse([](const R& request) -> std::string {
        if (request.bits == 4 || request.bits == 8) return "";
        return "--bits is " + std::to_string(request.bits) + "; it must be 8 or 4";
      });
}

QuantizeResult quantize(const QuantizeRequest& request, const App& app,
                        const std::function<void(const QuantizedRun&)>& written) {
  std::vector<std::string> options = {
      "--bits",     std::to_string(request.bits),     "--tolerance", shortest(request.tolerance),
      "--examples", std::to_string(request.examples), "--threads",   std::to_string(request.model.threads)};
  if (!request.texts.empty()) options.insert(options.end(), {"--texts", request.texts});
  for (const std::string& path : request.keep) options.insert(options.end(), {"--keep", path});
  const auto [runs, one] = find_trained_runs(app, selection_from(request.selection), request.model.backend);
  QuantizeResult result{.runs = {}, .one = one};
  for (const TrainedRun& run : runs) {
    result.runs.push_back({run.name, worker_answer<QuantizeAnswer>(
                                         app.events, run.worker,
                                         worker_arguments(app, request.model, run, "quantize", options))});
    written(result.runs.back());
  }
  return result;
}

}  // namespace encore
