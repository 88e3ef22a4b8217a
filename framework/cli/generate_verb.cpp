// generate: hands a request over to the worker, which writes the texts as they come.
#include <unistd.h>

#include <iostream>
#include <iterator>

#include <encore/lines.hpp>

#include "base/load_file.hpp"
#include "base/utf8.hpp"
#include "cli/access.hpp"
#include "cli/become_worker.hpp"
#include "cli/command_line.hpp"
#include "cli/run_plugins.hpp"
#include "cli/run_selection.hpp"
#include "cli/verbs.hpp"
#include "record/generate_request.hpp"
#include "world/cores.hpp"

namespace encore {

namespace {

namespace po = boost::program_options;

/// The lines of a text; an empty one is a prompt too.
std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> all;
  for (Lines lines(text); lines.next();) all.emplace_back(lines.line());
  return all;
}

std::vector<std::string> prompts_of(const CommandLine& line) {
  if (line.has("file") && line.has("text"))
    throw UsageError("both a prompt and --file are given; give one of them");
  if (line.has("text")) return line.texts("text");
  const bool from_file = line.has("file") && line.text("file") != "-";
  if (!from_file && ::isatty(STDIN_FILENO) != 0)
    std::cerr << "exp: reading prompts from the terminal, one a line; Ctrl-D ends\n";
  const std::vector<std::string> prompts =
      lines_of(from_file ? load_text(line.text("file"), "file of prompts")
                         : std::string(std::istreambuf_iterator<char>(std::cin), {}));
  if (prompts.empty()) throw UsageError("there is no prompt; give one, or a file with one a line (--file)");
  return prompts;
}

DecodingWishes wishes_of(const CommandLine& line) {
  DecodingWishes wishes;
  const auto whole = [&](const char* name, auto& to) {
    if (line.has(name)) to = line.whole(name);
  };
  const auto real = [&](const char* name, std::optional<double>& to) {
    if (line.has(name)) to = line.number(name);
  };
  whole("beam", wishes.beam);
  whole("texts", wishes.texts);
  whole("top-k", wishes.top_k);
  whole("max-tokens", wishes.max_pieces);
  real("length-penalty", wishes.length_penalty);
  real("temperature", wishes.temperature);
  real("top-p", wishes.top_p);
  real("repetition-penalty", wishes.repetition_penalty);
  if (line.has("seed")) {
    const std::int64_t seed = line.whole("seed");
    if (seed < 0) throw UsageError("--seed is " + std::to_string(seed) + "; it must be at least 0");
    wishes.seed = static_cast<std::uint64_t>(seed);
  }
  if (line.has("stop")) wishes.stop = line.texts("stop");
  for (const std::string& stop : wishes.stop)
    if (find_invalid_utf8(stop))
      throw UsageError(
          "--stop is not UTF-8; a text is, so it never comes to these bytes: give whole characters");
  return wishes;
}

/// As far as the options alone contradict each other; what they make of the options of the task, the worker
/// sees.
void require_sound(const DecodingWishes& wishes) {
  Decoding alone;
  if (wishes.texts && !wishes.beam && !wishes.temperature && !wishes.top_k && !wishes.top_p)
    alone.beam = *wishes.texts;  // the task may have a beam
  const Decoding decoding = wishes.over(alone);
  if (const std::string wrong = contradiction_in(decoding, generate_options); !wrong.empty())
    throw UsageError(wrong);
  if (wishes.seed && wishes.beam && decoding.temperature == 0.0)
    throw UsageError("a seed is of draws, and with a beam nothing is drawn; leave out --seed or --beam");
}

CommandLine make_generate_line() {
  CommandLine line(
      "generate",
      {"generate RUN [PROMPT...] [options]",
       "Has the best model of a run write texts: behind PROMPT where it is a decoder alone, and where it has "
       "an encoder what it makes of PROMPT. The text is written as it grows. Without options the task's own "
       "way of decoding holds, as with exp predict; else the most probable piece is taken each time. Draws "
       "are a function of the seed, the prompt and the position alone: the same command gives the same text.",
       {{"exp generate shakespeare \"ROMEO:\" --max-tokens 40", "the most probable continuation"},
        {"exp generate shakespeare \"ROMEO:\" --temperature 0.8 --top-k 5 --seed 7 --max-tokens 40",
         "a drawn one, of the five most probable pieces each time"},
        {"exp generate shakespeare \"ROMEO:\" --beam 4 --texts 2 --json",
         "the two best texts of a beam, with scores"},
        {"exp generate shakespeare --file prompts.txt", "a text for each line of a file, on a line each"}}});
  const auto whole = [] { return po::value<std::int64_t>()->value_name("N"); };
  const auto real = [](const char* name) { return po::value<double>()->value_name(name); };
  line.options()("file", po::value<std::string>()->value_name("FILE"),
                 "read prompts from this file, one a line; - for the standard input");
  line.options()("max-tokens", whole(),
                 "pieces at most (default: as many as the model has positions for; a decoder alone goes on "
                 "beyond them with the second half of its text as context)");
  line.options()("temperature", real("T"), "draw pieces from softmax(logits / T); 0 draws none");
  line.options()("top-k", whole(), "draw from the K most probable pieces only");
  line.options()("top-p", real("P"), "draw from the fewest pieces that have this share together");
  line.options()("seed", whole(), "of the draws (default: 0)");
  line.options()("beam", whole(), "follow the N most probable texts");
  line.options()("length-penalty", real("A"), "a text of n pieces has the score log p / n^A");
  line.options()("texts", whole(), "how many texts for each prompt: draws, or the best of the beam");
  line.options()("repetition-penalty", real("R"),
                 "above 1: pieces that the text has already are less probable");
  line.options()("stop", po::value<std::vector<std::string>>()->value_name("TEXT"),
                 "end a text before this (may be repeated)");
  line.options()("json", po::bool_switch(), "texts with scores as JSON, at the end");
  add_model_options(line);
  add_weights_option(line);
  add_run_options(line);
  line.positional("run");
  line.positional("text", -1);
  return line;
}

}  // namespace

int generate_verb(const Arguments& arguments) {
  CommandLine line = make_generate_line();
  if (!line.parse(arguments)) return exit_done;
  const RunSelection selection = selection_from(line, {line.required("run", "a run")});
  GenerateRequest request{.decoding = wishes_of(line), .json = line.flag("json")};
  require_sound(request.decoding);
  require_threads(line.integer("threads"));
  TrainedRun run;
  {
    Store store(line.database(), OpenMode::read);
    run = find_trained_run(store, selected_run(line, store, selection), line.text("backend"));
  }
  // Before the standard input becomes the request: somebody may have to be asked.
  const std::vector<std::string> arguments_of_worker =
      worker_arguments(line, run, "generate", {"--threads", std::to_string(line.integer("threads"))});
  request.prompts = prompts_of(line);
  use_text_as_input(request.text());
  become_worker(run.worker, arguments_of_worker, ThreadWait::briefly);
}

}  // namespace encore
