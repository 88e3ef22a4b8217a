// attention: what the attention of a run's model looks at in a text, as a page, a picture or numbers. The
// worker does the work and answers in JSON (record/attention.hpp).
#include <filesystem>
#include <iostream>

#include <nlohmann/json.hpp>

#include "base/number_text.hpp"
#include "base/shell_word.hpp"
#include "cli/access.hpp"
#include "cli/components.hpp"
#include "cli/run_plugins.hpp"
#include "cli/run_selection.hpp"
#include "cli/worker_answer.hpp"
#include "document/escape.hpp"
#include "record/attention.hpp"
#include "report/attention_charts.hpp"
#include "report/attention_page.hpp"
#include "report/wording.hpp"
#include "world/atomic_file.hpp"
#include "world/cores.hpp"

namespace encore {

namespace {

namespace fs = std::filesystem;

/// A picture with more cells is nothing that a viewer opens with pleasure.
constexpr std::size_t most_cells_of_picture = 60000;

enum class PictureFormat { html, svg };

PictureFormat format_of(const fs::path& file) {
  const std::string ending = file.extension().string();
  if (ending == ".html" || ending == ".htm") return PictureFormat::html;
  if (ending == ".svg") return PictureFormat::svg;
  throw UsageError("-o " + file.string() + " says no format; end the name with .html or .svg");
}

void require_file(const fs::path& file) {
  static_cast<void>(format_of(file));
  std::error_code failure;
  if (fs::is_directory(file, failure))
    throw UsageError("-o " + file.string() + " is a folder; name a file in it, such as " +
                     (file / "attention.html").string());
}

AttentionRequest request_of(const CommandLine& line) {
  if (!line.has("text"))
    throw UsageError("exp attention needs a text to look at (exp attention -h shows examples)");
  AttentionRequest request;
  const std::vector<std::string> texts = line.texts("text");
  if (texts.size() > 1)
    throw UsageError("exp attention takes one text, not " + std::to_string(texts.size()) +
                     ": put it in quotes, as in " + shell_word(texts.at(0) + " " + texts.at(1)));
  request.text = texts.front();
  if (line.has("target")) request.target = line.text("target");
  if (line.has("layer")) request.choice.layers = line.texts("layer");
  if (line.has("head")) request.choice.heads = line.wholes("head");
  return request;
}

/// The text and what the decoder reads, for people.
std::vector<std::pair<std::string, std::string>> texts_of(const AttentionRequest& request,
                                                          const AttentionTexts& found) {
  std::vector<std::pair<std::string, std::string>> texts = {{"Text", request.text}};
  if (!found.texts.front().target.empty())
    texts.emplace_back(found.forced ? "Target, given" : "Written by the model", found.written);
  return texts;
}

/// "2 layers, 8 heads": what the first text has.
std::string size_text(const AttentionText& text) {
  std::size_t heads = 0;
  for (const AttentionLayer& layer : text.layers) heads += layer.heads.size();
  return counted(heads, "map") + " of " + counted(text.layers.size(), "layer");
}

std::string pieces_text(const AttentionText& text) {
  std::string pieces = std::to_string(text.tokens.size());
  if (!text.target.empty()) pieces += " and " + std::to_string(text.target.size());
  return pieces + " pieces";
}

std::string picture_of(const AttentionTexts& found, const std::string& title) {
  std::size_t cells = 0;
  for (const AttentionText& text : found.texts) cells += cells_of(text);
  if (cells > most_cells_of_picture)
    throw UsageError("the maps have " + grouped(std::to_string(cells)) +
                     " cells, and a picture with more than " +
                     grouped(std::to_string(most_cells_of_picture)) +
                     " opens badly; choose layers and heads (--layer, --head), or write a page (.html)");
  if (found.texts.size() > 1)
    throw UsageError("the text becomes " + std::to_string(found.texts.size()) +
                     " sequences, and a picture shows one; write a page (.html)");
  return svg(attention_drawing(found.texts.front(), title), title, true);
}

}  // namespace

int attention_in_component(const Arguments& arguments) {
  CommandLine line = make_attention_line();
  if (!line.parse(arguments)) return exit_done;
  const RunSelection selection = selection_from(line, {line.required("run", "a run")});
  const AttentionRequest request = request_of(line);
  require_threads(line.integer("threads"));
  const bool json = line.flag("json");
  if (json && line.has("output"))
    throw UsageError("--json goes to the standard output; leave out -o or --json");
  if (line.has("output")) require_file(line.text("output"));

  Store store(line.database(), OpenMode::read);
  const RunRow row = selected_run(line, store, selection);
  const fs::path file = line.has("output") ? fs::path(line.text("output"))
                                           : fs::path(anchor_text(row.name) + ".attention.html");
  const TrainedRun run = find_trained_run(store, row, line.text("backend"));
  nlohmann::ordered_json answer = worker_answer(
      run.worker,
      worker_arguments(line, run, "attention", {"--threads", std::to_string(line.integer("threads"))}),
      request.json());
  if (json) {
    nlohmann::ordered_json named = {{"run", row.name}, {"text", request.text}};
    named.update(answer);
    std::cout << named.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) << '\n';
    return exit_done;
  }
  const AttentionTexts found = AttentionTexts::parse(answer.dump());
  const std::string title = "Attention of " + row.name;
  const std::string step = std::to_string(found.step);
  if (format_of(file) == PictureFormat::svg) {
    save_file(file, picture_of(found, title + ", step " + step + ": " + request.text));
  } else {
    AttentionPageHead head{.title = title,
                           .texts = texts_of(request, found),
                           .facts = {{"run", row.name},
                                     {"step", step},
                                     {"shown", size_text(found.texts.front())},
                                     {"text", pieces_text(found.texts.front())}},
                           .command = shell_command({"exp", "attention", row.name})};
    save_file(file, attention_page(found, head, Templates(report_folder(installed_programs()))));
  }
  std::cout << title << " (step " << step << ", " << size_text(found.texts.front()) << ", "
            << pieces_text(found.texts.front()) << ") written to " << file.string() << '\n';
  if (const std::string note = hidden_layers_note(found.texts.front()); !note.empty())
    std::cout << "  " << note << '\n';
  return exit_done;
}

}  // namespace encore
