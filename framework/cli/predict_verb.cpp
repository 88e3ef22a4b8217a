// predict: hands over to the worker with the run's folder; text flows straight through it, line by line in,
// line by line out, so that nothing here costs anything per sentence.
#include <unistd.h>

#include <iostream>

#include "base/input_file.hpp"
#include "cli/access.hpp"
#include "cli/become_worker.hpp"
#include "cli/command_line.hpp"
#include "cli/run_plugins.hpp"
#include "cli/run_selection.hpp"
#include "cli/verbs.hpp"
#include "world/cores.hpp"

namespace encore {

namespace {

void read_from(const std::string& file) {
  try {
    use_as_input(InputFile(file).descriptor());
  } catch (const UnreadableFile& error) {
    const bool flows = std::filesystem::is_fifo(file) || std::filesystem::is_character_file(file);
    throw UsageError(error.what() + std::string(flows ? "; or read the standard input with --file -" : ""));
  }
}

/// text, jsonl, or the format of the data that the run was trained with.
void require_format(const std::string& format, Store& store, const RunRow& run) {
  if (format == "text" || format == "jsonl") return;
  std::string of_data;
  for (const ParamRow& param : store.read_params(run.number))
    if (param.key == "data.type" && param.value.is_string()) of_data = param.value.get<std::string>();
  if (format != of_data || of_data.empty())
    throw UsageError("--format is \"" + format + "\"; it must be text, jsonl or " + of_data +
                     ", the format of the data of " + run.name);
}

}  // namespace

int predict_verb(const Arguments& arguments) {
  namespace po = boost::program_options;
  CommandLine line(
      "predict",
      {"predict RUN [TEXT...] [options]",
       "Asks the best model of a run about each TEXT, each line of a file, or each line of the standard "
       "input. "
       "The first argument is the run; where an option chooses it, write all.",
       {{"exp predict quickstart \"Anna Berg met the mayor of Lund .\"", "one sentence"},
        {"exp predict all --best dev/f1 \"Anna Berg met the mayor of Lund .\"",
         "with the best model there is; a sweep's name in place of all: with the best one of the sweep"},
        {"exp predict quickstart --file notes.txt --format jsonl", "each line of a file, as JSON lines"}}});
  line.options()("file", po::value<std::string>()->value_name("FILE"),
                 "read the lines of this file; - for the standard input");
  line.options()(
      "format", po::value<std::string>()->value_name("FORMAT")->default_value("text"),
      "text: for people, such as [Anna Berg PER] met; jsonl: one object per line; or the format of the run's "
      "data, its data.type, labelled by the model");
  line.options()("json", po::bool_switch(), "short for --format jsonl");
  add_model_options(line);
  add_weights_option(line);
  add_run_options(line);
  line.positional("run");
  line.positional("text", -1);
  if (!line.parse(arguments)) return exit_done;

  const RunSelection selection = selection_from(line, {line.required("run", "a run")});
  const std::string format = line.flag("json") ? "jsonl" : line.text("format");
  if (line.flag("json") && line.text("format") != "text" && line.text("format") != "jsonl")
    throw UsageError("--json and --format " + line.text("format") + " ask for two formats; give one of them");
  if (line.has("file") && line.has("text"))
    throw UsageError("both a text and --file are given; give one of them");
  require_threads(line.integer("threads"));
  TrainedRun run;
  {
    Store store(line.database(), OpenMode::read);
    const RunRow row = selected_run(line, store, selection);
    require_format(format, store, row);
    run = find_trained_run(store, row, line.text("backend"));
  }
  if (!selection.best.empty())
    std::cerr << "exp: the best of these by " << selection.best << " is " << run.name << '\n';
  // Before the standard input becomes the text: somebody may have to be asked.
  const std::vector<std::string> arguments_of_worker = worker_arguments(
      line, run, "predict", {"--format", format, "--threads", std::to_string(line.integer("threads"))});
  if (line.has("file") && line.text("file") != "-") {
    read_from(line.text("file"));
  } else if (line.has("text")) {
    std::string lines;
    for (const std::string& text : line.texts("text")) lines += text + '\n';
    use_text_as_input(lines);
  } else if (::isatty(STDIN_FILENO) != 0) {
    std::cerr << "exp: reading from the terminal, a text per line; Ctrl-D ends\n";
  }
  become_worker(run.worker, arguments_of_worker, line.has("file") ? ThreadWait::briefly : ThreadWait::asleep);
}

}  // namespace encore
