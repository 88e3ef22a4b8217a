// SPDX-License-Identifier: BSD-3-Clause
// exp predict and exp generate: replace exp by the worker of a run (become_worker.hpp), with the arguments
// from app/predict.cpp. Text flows directly through the worker, line by line, so exp adds no cost for each
// sentence; exp must therefore print nothing to standard output. help_verb.cpp lists the verbs;
// worker/predict_verb.cpp prints the answers.
#include <unistd.h>

#include <encore/lines.hpp>

#include "app/predict.hpp"
#include "base/input_file.hpp"
#include "base/load_file.hpp"
#include "cli/become_worker.hpp"
#include "cli/verbs.hpp"

namespace encore::cli {

namespace {

void read_from(const std::string& file) {
  try {
    use_as_input(InputFile(file).descriptor());
  } catch (const UnreadableFile& error) {
    const bool flows = std::filesystem::is_fifo(file) || std::filesystem::is_character_file(file);
    throw app::UsageError(error.what() + std::string(flows ? "; or read standard input with --file -" : ""));
  }
}

int predict_verb(const app::PredictRequest& request, app::App& app, Console& console) {
  // Before the standard input becomes the text, because the user may be asked about a plugin.
  const app::ModelCall call = app::predict_call(request, app);
  if (!call.best_of.empty())
    console.noticed("the best of these runs by " + call.best_of + " is " + call.run.name);
  const bool has_file = !request.file.empty();
  if (has_file && request.file != "-") {
    read_from(request.file);
  } else if (!request.text.empty()) {
    std::string lines;
    for (const std::string& text : request.text) lines += text + '\n';
    use_text_as_input(lines);
  } else if (!has_file && !call.reader.empty()) {
    console.noticed("reading lines of text; use --file - to read standard input as " + call.reader);
  } else if (::isatty(STDIN_FILENO) != 0) {
    console.noticed("reading from the terminal, one text on each line; end with Ctrl-D");
  }
  become_worker(call.run.worker, call.arguments, has_file ? ThreadWait::briefly : ThreadWait::asleep);
}

/// Returns the lines of a text. An empty line is also a prompt. A byte order mark at the beginning is
/// removed.
std::vector<std::string> lines_of(std::string_view text) {
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  std::vector<std::string> all;
  for (Lines lines(text); lines.next();) all.emplace_back(lines.line());
  return all;
}

std::vector<std::string> prompts_of(const app::GenerateTextRequest& request, Console& console) {
  if (!request.text.empty()) return request.text;
  const bool from_file = !request.file.empty() && request.file != "-";
  if (!from_file && ::isatty(STDIN_FILENO) != 0)
    console.noticed("reading prompts from the terminal, one on each line; end with Ctrl-D");
  const std::vector<std::string> prompts =
      lines_of(from_file ? load_text(request.file, "file of prompts") : console.input());
  if (prompts.empty())
    throw app::UsageError("there is no prompt; give one, or a file with one on each line (--file)");
  return prompts;
}

int generate_verb(const app::GenerateTextRequest& request, app::App& app, Console& console) {
  // Before the standard input becomes the request, because the user may be asked about a plugin.
  const app::ModelCall call = app::generate_call(request, app);
  use_text_as_input(app::generate_input(request, prompts_of(request, console)));
  become_worker(call.run.worker, call.arguments, ThreadWait::briefly);
}

}  // namespace

Verb predict_verb() {
  return make_verb("predict", "predict for text with a run's best model", app::predict_form, predict_verb);
}

Verb generate_verb() {
  return make_verb("generate", "generate text with a run's best model", app::generate_form, generate_verb);
}

}  // namespace encore::cli
