// Chooses the run, checks what is asked, and says what its worker is started with.
#include "app/predict.hpp"

#include "base/utf8.hpp"

namespace encore {

namespace {

std::string reader_of(Store& store, const RunRow& run) {
  for (const ParamRow& param : store.read_params(run.number))
    if (param.key == "data.type" && param.value.is_string()) return param.value.get<std::string>();
  return "";
}

/// text, jsonl, or the format of the data that the run was trained with.
void require_format(const std::string& format, const std::string& reader, const RunRow& run) {
  if (format == "text" || format == "jsonl" || (format == reader && !reader.empty())) return;
  throw UsageError("--format is \"" + format + "\"; it must be text, jsonl or " + reader +
                   ", the format of the data of " + run.name);
}

/// Whether --file is in the format of the run's data, with its columns or members, and so are the answers.
/// With --json it is lines of text, also where that format is jsonl.
bool file_is_data(const PredictRequest& request, const std::string& reader) {
  return !request.file.empty() && !request.json && request.format == reader && request.format != "text";
}

DecodingWishes wishes_of(const GenerateTextRequest& request) {
  DecodingWishes wishes;
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

/// As far as the options alone contradict each other; what they make of the options of the task, the worker
/// sees.
std::string contradiction_of(const DecodingWishes& wishes) {
  Decoding alone;
  if (wishes.texts && !wishes.beam && !wishes.temperature && !wishes.top_k && !wishes.top_p)
    alone.beam = *wishes.texts;  // the task may have a beam
  const Decoding decoding = wishes.over(alone);
  if (const std::string wrong = contradiction_in(decoding, generate_options); !wrong.empty()) return wrong;
  if (wishes.seed && wishes.beam && decoding.temperature == 0.0)
    return "a seed is of draws, and with a beam nothing is drawn; leave out --seed or --beam";
  return "";
}

std::string threads_of(const ModelRequest& model) {
  return std::to_string(model.threads);
}

}  // namespace

Form<PredictRequest> predict_form() {
  using R = PredictRequest;
  return Form<R>("predict",
                 {"predict RUN [TEXT...] [options]",
                  "Asks the best model of a run about each TEXT, each line of a file, or each line of the "
                  "standard input. With the format of the run's data (conll, tsv, ...) a file is read as the "
                  "run's data are, without labels or with labels that are ignored, and comes back with the "
                  "model's. The first argument is the run; where an option chooses it, write all.",
                  {{"exp predict quickstart \"Anna Berg met the mayor of Lund .\"", "one sentence"},
                   {"exp predict all --best dev/f1 \"Anna Berg met the mayor of Lund .\"",
                    "with the best model there is; a sweep's name in place of all: with the best one of the "
                    "sweep"},
                   {"exp predict quickstart --file notes.txt --format jsonl",
                    "each line of a file, as JSON lines"},
                   {"exp predict quickstart --file words.conll --format conll",
                    "a file of tokens, one per line, with the model's labels as a new column"}}})
      .option("file", &R::file, "FILE",
              "read this file; - for the standard input: lines of text, or with the format of the run's data "
              "a file in that format")
      .option("format", &R::format, "FORMAT",
              "text: for people, such as [Anna Berg PER] met; jsonl: one object per line; or the format of "
              "the run's data, its data.type: FILE with an added column or member (squad: ID to answer), "
              "lines of text as a new file")
      .flag("json", &R::json,
            "short for --format jsonl, and FILE is lines of text also where the run's data are jsonl")
      .flag("scores", &R::scores, "with probabilities: of each answer (score), and of every label (scores)")
      .include(&R::model, weights_options())
      .include(&R::selection, run_options())
      .argument("run", &R::run, "a run")
      .argument("text", &R::text)
      .refuse([](const R& request) -> std::string {
        if (request.json && request.format != "text" && request.format != "jsonl")
          return "--json and --format " + request.format + " ask for two formats; give one of them";
        if (request.scores && request.format != "text" && request.format != "jsonl")
          return "--format " + request.format + " has no place for --scores; use --format jsonl, or text";
        return "";
      })
      .exclude("file", "text", "both a text and --file are given; give one of them");
}

Form<GenerateTextRequest> generate_form() {
  using R = GenerateTextRequest;
  return Form<R>(
             "generate",
             {"generate RUN [PROMPT...] [options]",
              "Has the best model of a run write texts: behind PROMPT where it is a decoder alone, and "
              "where it has an encoder what it makes of PROMPT. The text is written as it grows. "
              "Without options the task's own way of decoding holds, as with exp predict; else the "
              "most probable token is taken each time. Draws are a function of the seed, the prompt "
              "and the position alone: the same command gives the same text.",
              {{"exp generate shakespeare \"ROMEO:\" --max-tokens 40", "the most probable continuation"},
               {"exp generate shakespeare \"ROMEO:\" --temperature 0.8 --top-k 5 --seed 7 --max-tokens 40",
                "a drawn one, of the five most probable tokens each time"},
               {"exp generate shakespeare \"ROMEO:\" --beam 4 --texts 2 --json",
                "the two best texts of a beam, with scores"},
               {"exp generate shakespeare --file prompts.txt",
                "a text for each line of a file, on a line each"}}})
      .option("file", &R::file, "FILE", "read prompts from this file, one a line; - for the standard input")
      .option("max-tokens", &R::max_tokens, "N",
              "tokens at most (default: as many as the model has positions for; a decoder alone goes on "
              "beyond them with the second half of its text as context)")
      .option("temperature", &R::temperature, "T", "draw tokens from softmax(logits / T); 0 draws none")
      .option("top-k", &R::top_k, "N", "draw from the K most probable tokens only")
      .option("top-p", &R::top_p, "P", "draw from the fewest tokens that have this share together")
      .option("seed", &R::seed, "N", "of the draws (default: 0)")
      .option("beam", &R::beam, "N", "follow the N most probable texts")
      .option("length-penalty", &R::length_penalty, "A", "a text of n tokens has the score log p / n^A")
      .option("texts", &R::texts, "N", "how many texts for each prompt: draws, or the best of the beam")
      .option("repetition-penalty", &R::repetition_penalty, "R",
              "above 1: tokens that the text has already are less probable")
      .option("stop", &R::stop, "TEXT", "end a text before this (may be repeated)")
      .flag("json", &R::json, "texts with scores as JSON, at the end")
      .include(&R::model, weights_options())
      .include(&R::selection, run_options())
      .argument("run", &R::run, "a run")
      .argument("text", &R::text)
      .exclude("file", "text", "both a prompt and --file are given; give one of them")
      .least("seed", 0, "--seed is {}; it must be at least 0")
      .refuse([](const R& request) -> std::string {
        for (const std::string& stop : request.stop)
          if (find_invalid_utf8(stop))
            return "--stop is not UTF-8; a text is, so it never comes to these bytes: give whole characters";
        return contradiction_of(wishes_of(request));
      });
}

ModelCall predict_call(const PredictRequest& request, const App& app) {
  const std::string format = request.json ? "jsonl" : request.format;
  const RunSelection selection = selection_from(request.selection, {request.run});
  ModelCall call{.run = {}, .arguments = {}, .best_of = selection.best};
  std::vector<std::string> more = {"--format", format, "--threads", threads_of(request.model)};
  {
    Store store(app.database, OpenMode::read);
    const RunRow row = selected_run(app, store, selection);
    const std::string reader = reader_of(store, row);
    require_format(format, reader, row);
    if (format == reader && format != "text" && format != "jsonl") call.reader = reader;
    const bool is_data = file_is_data(request, reader);
    if (is_data && request.scores)
      throw UsageError("a file in the format of the run's data (" + reader +
                       ") has no place for --scores; give --json for lines of text with scores");
    if (is_data) more.insert(more.end(), {"--file", request.file == "-" ? "standard input" : request.file});
    call.run = find_trained_run(store, row, request.model.backend);
  }
  if (request.scores) more.emplace_back("--scores");
  call.arguments = worker_arguments(app, request.model, call.run, "predict", more);
  return call;
}

ModelCall generate_call(const GenerateTextRequest& request, const App& app) {
  ModelCall call;
  {
    Store store(app.database, OpenMode::read);
    const RunSelection selection = selection_from(request.selection, {request.run});
    call.run = find_trained_run(store, selected_run(app, store, selection), request.model.backend);
  }
  call.arguments =
      worker_arguments(app, request.model, call.run, "generate", {"--threads", threads_of(request.model)});
  return call;
}

std::string generate_input(const GenerateTextRequest& request, std::vector<std::string> prompts) {
  GenerateRequest input{.decoding = wishes_of(request), .json = request.json};
  input.prompts = std::move(prompts);
  return input.text();
}

}  // namespace encore
