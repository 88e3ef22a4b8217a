// predict: hands over to the worker with the run's folder; text flows straight through it, line by line in,
// line by line out, so that nothing here costs anything per sentence.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <iostream>

#include "cli/access.hpp"
#include "cli/command_line.hpp"
#include "cli/run_plugins.hpp"
#include "cli/verbs.hpp"
#include "record/cores.hpp"
#include "record/file_descriptor.hpp"
#include "runner/programs.hpp"

namespace encore {

namespace {

/// Makes `descriptor` the standard input of what is executed next.
void use_as_input(const FileDescriptor& descriptor) {
  if (::dup2(descriptor.get(), STDIN_FILENO) < 0)
    throw Error(std::string("cannot redirect the standard input: ") + std::strerror(errno));
}

/// A file without a name that holds the text: unlike a pipe it takes any length.
FileDescriptor file_with(const std::string& text) {
  FileDescriptor file(::memfd_create("text", MFD_CLOEXEC));
  if (!file) throw Error(std::string("cannot hand the text over: ") + std::strerror(errno));
  write_all(file.get(), std::as_bytes(std::span(text)), "text");
  ::lseek(file.get(), 0, SEEK_SET);
  return file;
}

[[noreturn]] void become(const std::filesystem::path& program, std::vector<std::string> arguments) {
  std::cout.flush();
  std::vector<char*> list;
  std::string name = program.string();
  list.push_back(name.data());
  for (std::string& argument : arguments) list.push_back(argument.data());
  list.push_back(nullptr);
  ::execv(name.c_str(), list.data());
  throw Error("cannot start " + name + ": " + std::strerror(errno));
}

}  // namespace

int predict_verb(const Arguments& arguments) {
  namespace po = boost::program_options;
  CommandLine line(
      "predict",
      {"predict RUN [TEXT] [options]",
       "Finds entities with the best model of a run: in TEXT, in each line of a file, or in each line of "
       "the\n"
       "standard input.",
       {{"exp predict quickstart \"Anna Berg met the mayor of Lund .\"", "one sentence"},
        {"exp predict quickstart --file notes.txt --format jsonl", "each line of a file, as JSON lines"}}});
  line.options()("file", po::value<std::string>()->value_name("FILE"), "read the lines of this file");
  line.options()("format", po::value<std::string>()->value_name("FORMAT")->default_value("text"),
                 "text: [Anna Berg PER] met; jsonl: one object per line; conll: a word and its tag per line");
  line.options()("backend", po::value<std::string>()->value_name("NAME"),
                 "openmp, cuda or hip (default: that of the run)");
  add_run_plugin_option(line);
  line.options()("threads", po::value<int>()->value_name("N")->default_value(0),
                 "threads; 0: all this process may use");
  line.positional("run");
  line.positional("text", -1);
  if (!line.parse(arguments)) return exit_done;

  const std::string name = line.required("run", "a run");
  const std::string format = line.text("format");
  if (format != "text" && format != "jsonl" && format != "conll")
    throw UsageError("--format is \"" + format + "\"; it must be text, jsonl or conll");
  if (line.has("file") && line.has("text"))
    throw UsageError("both a text and --file are given; give one of them");
  if (line.has("file") && std::filesystem::is_directory(line.text("file")))
    throw UsageError("cannot read " + line.text("file") + ": it is a folder; name a file");
  require_threads(line.integer("threads"));
  const TrainedRun run = find_trained_run(line, name, line.text("backend"));
  // Before the standard input becomes the text: somebody may have to be asked.
  const std::vector<std::string> arguments_of_worker =
      worker_arguments(line, run, "predict",
                       {"--format", format, "--threads", std::to_string(line.integer("threads"))});
  if (line.has("file")) {
    use_as_input(open_file(line.text("file"), O_RDONLY));
  } else if (line.has("text")) {
    std::string text;
    for (const std::string& word : line.texts("text")) text += (text.empty() ? "" : " ") + word;
    use_as_input(file_with(text + '\n'));
  } else if (::isatty(STDIN_FILENO) != 0) {
    std::cerr << "exp: reading sentences from the terminal, one per line; Ctrl-D ends\n";
  }
  become(run.worker, arguments_of_worker);
}

}  // namespace encore
