// SPDX-License-Identifier: BSD-3-Clause
// `exp predict` and `exp generate`: choose the run, check the request, and build the worker's arguments and
// input. cli/predict_verb.cpp calls predict_call() and generate_call(). The arguments are a contract with
// worker/predict_verb.cpp and worker/generate_verb.cpp, which may be of another build (--backend). Read next:
// predict.hpp.
#include "app/predict.hpp"

#include <filesystem>

#include "base/utf8.hpp"

namespace encore::app {

namespace {

/// Returns the format of the run's data (data.type), such as "conll".
std::string reader_of(store::Store& store, const store::RunRow& run) {
  for (const store::ParamRow& param : store.read_params(run.number))
    if (param.key == "data.type" && param.value.is_string()) return param.value.get<std::string>();
  return "";
}

/// Checks --format: text, jsonl, or the format of the data that the run was trained with.
void require_format(const std::string& format, const std::string& reader, const store::RunRow& run) {
  if (format == "text" || format == "jsonl" || (format == reader && !reader.empty())) return;
  throw UsageError("invalid --format \"" + format + "\": expected text, jsonl or " + reader +
                   ", the format of the data of " + run.name);
}

/// Returns whether --file and the answers are in the format of the run's data, with its columns or members.
/// With --json the file is lines of text, even if that format is jsonl.
bool file_is_data(const PredictRequest& request, const std::string& reader) {
  return !request.file.empty() && !request.json && request.format == reader && request.format != "text";
}

/// Returns whether the name of --file is that of a file in the format of the run's data.
bool file_looks_like_data(const PredictRequest& request, const std::string& reader) {
  const std::string extension = std::filesystem::path(request.file).extension().string();
  return extension == "." + reader || (reader == "tsv" && extension == ".csv");
}

record::DecodingWishes wishes_of(const GenerateTextRequest& request) {
  record::DecodingWishes wishes;
  wishes.beam = request.beam;
  wishes.texts = request.texts;
  wishes.top_k = request.top_k;
  wishes.max_tokens = request.max_tokens;
  wishes.length_penalty = request.length_penalty;
  wishes.temperature = request.temperature;
  wishes.top_p = request.top_p;
  wishes.repetition_penalty = request.repetition_penalty;
  if (request.seed) wishes.seed = static_cast<std::uint64_t>(*request.seed);
  if (!request.stop.empty()) wishes.stop = request.stop;
  return wishes;
}

/// Returns a contradiction between the options, if any. The worker checks them against the options of the
/// task.
std::string contradiction_of(const record::DecodingWishes& wishes) {
  Decoding alone;
  if (wishes.texts && !wishes.beam && !wishes.temperature && !wishes.top_k && !wishes.top_p)
    alone.beam = *wishes.texts;  // the task may have a beam
  const Decoding decoding = wishes.over(alone);
  if (const std::string wrong = record::contradiction_in(decoding, record::generate_options); !wrong.empty())
    return wrong;
  if (wishes.seed && wishes.beam && decoding.temperature == 0.0)
    return "--seed and --beam exclude each other: a beam draws nothing";
  return "";
}

/// Throws UsageError if the answers cannot be written to --output, before a model is loaded.
void require_output(const PredictRequest& request) {
  namespace fs = std::filesystem;
  const fs::path output = request.output, folder = output.parent_path();
  if (output.empty()) return;
  if (fs::is_directory(output))
    throw UsageError("invalid -o " + request.output + ": it is a folder; name a file");
  if (!folder.empty() && !fs::is_directory(folder))
    throw UsageError("invalid -o " + request.output + ": there is no folder " + folder.string());
  std::error_code unknown;
  if (!request.file.empty() && fs::equivalent(output, request.file, unknown))
    throw UsageError("invalid -o " + request.output + ": the answers would replace the file that is read; " +
                     "name another file");
}

std::string threads_of(const ModelRequest& model) {
  return std::to_string(model.threads);
}

}  // namespace

Form<PredictRequest> predict_form() {
  using R = PredictRequest;
  return Form<R>(
             "predict",
             {"predict RUN [TEXT...] [options]",
              "Predicts with the best model of a run for each TEXT, each line of a file, or each line of "
              "standard input. With the format of the run's data (conll, tsv, ...) a file is read like these "
              "data, its labels are ignored, and it is printed with the model's labels. The first argument "
              "is the run; write all if an option selects it.",
              {{"exp predict quickstart \"Anna Berg met the mayor of Lund .\"", "predict for one sentence"},
               {"exp predict all --best dev/f1 \"Anna Berg met the mayor of Lund .\"",
                "use the best model of all runs; with the name of a sweep instead of all, the best model of "
                "the sweep"},
               {"exp predict quickstart --file notes.txt --format jsonl",
                "read each line of a file; print JSON lines"},
               {"exp predict quickstart --file words.conll --format conll -o labelled.conll",
                "read a file of tokens, one on each line; add the model's labels as a column, and write the "
                "file labelled.conll"}}})
      .option("file", &R::file, "FILE",
              "read this file, - for standard input: lines of text, or a file in the format of the run's "
              "data if --format names it")
      .option("format", &R::format, "FORMAT",
              "text: for reading, such as [Anna Berg PER] met; jsonl: one object on each line; or the format "
              "of the run's data (data.type): FILE with an added column or member (squad: ID to answer); "
              "lines of text become a new file")
      .option("output,o", &R::output, "FILE",
              "write the answers to this file, when all are there (default: standard output)")
      .flag("json", &R::json,
            "short for --format jsonl; FILE is lines of text even if the run's data are jsonl")
      .flag("scores", &R::scores, "add the probability of each answer (score) and of every label (scores)")
      .flag("trace", &R::trace,
            "name for each step of an application the run that it asks with its weights, what was fitted, "
            "and its time")
      .include(&R::model, weights_options())
      .include(&R::selection, run_options())
      .argument("run", &R::run, "a run")
      .argument("text", &R::text)
      .refuse([](const R& request) -> std::string {
        if (request.json && request.format != "text" && request.format != "jsonl")
          return "--json and --format " + request.format + " exclude each other";
        if (request.scores && request.format != "text" && request.format != "jsonl")
          return "--format " + request.format + " cannot hold --scores; use --format jsonl or text";
        if (request.trace && request.format != "text" && request.format != "jsonl")
          return "--format " + request.format + " cannot hold --trace; use --format jsonl or text";
        return "";
      })
      .exclude("file", "text", "a text and --file exclude each other");
}

Form<GenerateTextRequest> generate_form() {
  using R = GenerateTextRequest;
  return Form<R>(
             "generate",
             {"generate RUN [PROMPT...] [options]",
              "Generates text with the best model of a run. A decoder continues PROMPT; a model with an "
              "encoder writes its output for PROMPT. The text is printed as it grows. Without options, the "
              "task's options decide how to decode, as in exp predict; otherwise each step takes the most "
              "probable token. Draws depend only on the seed, the prompt and the position, so the same "
              "command gives the same text.",
              {{"exp generate shakespeare \"ROMEO:\" --max-tokens 40",
                "print the most probable continuation"},
               {"exp generate shakespeare \"ROMEO:\" --temperature 0.8 --top-k 5 --seed 7 --max-tokens 40",
                "draw each token from the five most probable ones"},
               {"exp generate shakespeare \"ROMEO:\" --beam 4 --texts 2 --json",
                "print the two best outputs of a beam, with scores"},
               {"exp generate shakespeare --file prompts.txt", "print one line for each line of a file"}}})
      .option("file", &R::file, "FILE", "read prompts from this file, one on each line; - for standard input")
      .option("max-tokens", &R::max_tokens, "N",
              "generate at most N tokens (default: the positions of the model; a model without an encoder "
              "continues beyond them, with the second half of its output as context)")
      .option("temperature", &R::temperature, "T", "draw tokens from softmax(logits / T); 0: do not draw")
      .option("top-k", &R::top_k, "N", "draw only from the N most probable tokens")
      .option("top-p", &R::top_p, "P", "draw from the smallest set of tokens with this total probability")
      .option("seed", &R::seed, "N", "seed of the draws (default: 0)")
      .option("beam", &R::beam, "N", "search with a beam of N sequences")
      .option("length-penalty", &R::length_penalty, "A", "score a sequence of n tokens by log p / n^A")
      .option("texts", &R::texts, "N", "number of outputs for each prompt: draws, or the best of the beam")
      .option("repetition-penalty", &R::repetition_penalty, "R",
              "above 1: make tokens that are already in the text less probable")
      .option("stop", &R::stop, "TEXT", "end the output before this text (may be repeated)")
      .flag("json", &R::json, "print the outputs with scores as JSON, at the end")
      .include(&R::model, weights_options())
      .include(&R::selection, run_options())
      .argument("run", &R::run, "a run")
      .argument("text", &R::text)
      .exclude("file", "text", "a prompt and --file exclude each other")
      .least("seed", 0, "invalid --seed {}: expected at least 0")
      .refuse([](const R& request) -> std::string {
        for (const std::string& stop : request.stop)
          if (find_invalid_utf8(stop)) return "invalid --stop: not UTF-8; give whole characters";
        return contradiction_of(wishes_of(request));
      });
}

ModelCall predict_call(const PredictRequest& request, const App& app) {
  require_output(request);
  const std::string format = request.json ? "jsonl" : request.format;
  const store::RunSelection selection = selection_from(request.selection, {request.run});
  ModelCall call{.run = {}, .arguments = {}, .best_of = selection.best};
  std::vector<std::string> more = {"--format", format, "--threads", threads_of(request.model)};
  {
    store::Store store(app.database, store::OpenMode::read);
    const store::RunRow row = selected_run(app, store, selection);
    const std::string reader = reader_of(store, row);
    require_format(format, reader, row);
    if (format == reader && format != "text" && format != "jsonl") call.reader = reader;
    const bool is_data = file_is_data(request, reader);
    if (!is_data && file_looks_like_data(request, reader))
      app.events.noticed("note: each line of " + request.file + " is one input; with --format " + reader +
                         " it is read like the data of " + row.name);
    if (is_data && request.scores)
      throw UsageError("a file in the format of the run's data (" + reader +
                       ") cannot hold --scores; use --json for lines of text with scores");
    if (is_data && request.trace)
      throw UsageError("a file in the format of the run's data (" + reader +
                       ") cannot hold --trace; use --json for lines of text with a trace");
    if (request.trace && !is_application(row))
      throw UsageError("invalid --trace: run " + row.name +
                       " is not an application, so it has no steps; exp show " + row.name +
                       " names its data and weights");
    if (is_data) more.insert(more.end(), {"--file", request.file == "-" ? "standard input" : request.file});
    require_own_weights(row, request.model);
    call.run = find_trained_run(store, row, request.model.backend, Takes::applications);
  }
  if (request.scores) more.emplace_back("--scores");
  if (request.trace) more.emplace_back("--trace");
  if (!request.output.empty()) more.insert(more.end(), {"--output", request.output});
  call.arguments = worker_arguments(app, request.model, call.run, "predict", more);
  return call;
}

ModelCall generate_call(const GenerateTextRequest& request, const App& app) {
  ModelCall call;
  {
    store::Store store(app.database, store::OpenMode::read);
    const store::RunSelection selection = selection_from(request.selection, {request.run});
    call.run = find_trained_run(store, selected_run(app, store, selection), request.model.backend);
  }
  call.arguments =
      worker_arguments(app, request.model, call.run, "generate", {"--threads", threads_of(request.model)});
  return call;
}

std::string generate_input(const GenerateTextRequest& request, std::vector<std::string> prompts) {
  record::GenerateRequest input{.decoding = wishes_of(request), .json = request.json};
  input.prompts = std::move(prompts);
  return input.text();
}

}  // namespace encore::app
