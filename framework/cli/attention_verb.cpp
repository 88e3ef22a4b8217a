// SPDX-License-Identifier: BSD-3-Clause
// exp attention: shows the attention weights of a run's model for a text, as a page, a picture or numbers.
// It is linked into the program exp-report, which exp becomes for this verb (report_main.cpp). The worker
// computes the weights and answers in JSON (record/attention.hpp), which --json copies, so its members keep
// their names. Pages and pictures may change. Read next: app/document_requests.hpp, components.hpp.
#include <filesystem>

#include <nlohmann/json.hpp>

#include "app/document_requests.hpp"
#include "app/worker_answer.hpp"
#include "base/readable_text.hpp"
#include "base/shell_word.hpp"
#include "cli/components.hpp"
#include "document/escape.hpp"
#include "record/attention.hpp"
#include "report/attention_charts.hpp"
#include "report/attention_page.hpp"
#include "report/wording.hpp"
#include "runner/programs.hpp"
#include "world/atomic_file.hpp"

namespace encore::cli {

namespace {

namespace fs = std::filesystem;

/// The largest number of cells in a picture; larger pictures are slow to open.
constexpr std::size_t most_cells_of_picture = 60000;

enum class PictureFormat { html, svg };

PictureFormat format_of(const fs::path& file) {
  const std::string ending = file.extension().string();
  if (ending == ".html" || ending == ".htm") return PictureFormat::html;
  if (ending == ".svg") return PictureFormat::svg;
  throw app::UsageError("-o " + file.string() +
                        " has no known format: expected a name that ends in .html or .svg");
}

void require_file(const fs::path& file) {
  static_cast<void>(format_of(file));
  std::error_code failure;
  if (fs::is_directory(file, failure))
    throw app::UsageError("-o " + file.string() + " is a folder; name a file in it, such as " +
                          (file / "attention.html").string());
}

record::AttentionRequest question_of(const app::AttentionPageRequest& request) {
  record::AttentionRequest question;
  question.text = request.text.front();
  if (request.target) question.target = *request.target;
  question.choice.layers = request.layer;
  question.choice.heads = request.head;
  return question;
}

/// Returns the text and the decoder's input, for the page.
std::vector<std::pair<std::string, std::string>> texts_of(const record::AttentionRequest& request,
                                                          const record::AttentionTexts& found) {
  std::vector<std::pair<std::string, std::string>> texts = {{"Text", request.text}};
  if (!found.texts.front().target.empty())
    texts.emplace_back(found.forced ? "Target, given" : "Written by the model", found.written);
  return texts;
}

/// Returns the number of attention maps, one for each head, and of layers: "16 maps of 2 layers".
std::string size_text(const record::AttentionText& text) {
  std::size_t heads = 0;
  for (const record::AttentionLayer& layer : text.layers) heads += layer.heads.size();
  return counted(heads, "map") + " of " + counted(text.layers.size(), "layer");
}

std::string tokens_text(const record::AttentionText& text) {
  std::string tokens = std::to_string(text.tokens.size());
  if (!text.target.empty()) tokens += " and " + std::to_string(text.target.size());
  return tokens + " tokens";
}

std::string picture_of(const record::AttentionTexts& found, const std::string& title) {
  std::size_t cells = 0;
  for (const record::AttentionText& text : found.texts) cells += report::cells_of(text);
  if (cells > most_cells_of_picture)
    throw app::UsageError("the maps have " + grouped(std::to_string(cells)) +
                          " cells, but a picture can have at most " +
                          grouped(std::to_string(most_cells_of_picture)) +
                          "; choose layers and heads (--layer, --head), or write a page (.html)");
  if (found.texts.size() > 1)
    throw app::UsageError("the text becomes " + std::to_string(found.texts.size()) +
                          " sequences, but a picture shows one; write a page (.html)");
  return document::svg(report::attention_drawing(found.texts.front(), title), title, true);
}

int attention(const app::AttentionPageRequest& wanted, app::App& app, Console& console) {
  const record::AttentionRequest request = question_of(wanted);
  if (!wanted.output.empty()) require_file(wanted.output);
  store::Store store(app.database, store::OpenMode::read);
  const store::RunRow row =
      app::selected_run(app, store, app::selection_from(wanted.selection, {wanted.run}));
  const fs::path file = wanted.output.empty() ? fs::path(document::anchor_text(row.name) + ".attention.html")
                                              : fs::path(wanted.output);
  const app::TrainedRun run = app::find_trained_run(store, row, wanted.model.backend);
  const std::string answer =
      app::worker_answer_text(app.events, run.worker,
                              app::worker_arguments(app, wanted.model, run, "attention",
                                                    {"--threads", std::to_string(wanted.model.threads)}),
                              request.json());
  if (wanted.json) {
    nlohmann::ordered_json named = {{"run", row.name}, {"text", request.text}};
    named.update(parse_json<nlohmann::ordered_json>(answer));
    console.out << named.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) << '\n';
    return exit_done;
  }
  const record::AttentionTexts found = record::AttentionTexts::parse(answer);
  const std::string title = "Attention of " + row.name;
  const std::string step = std::to_string(found.step);
  if (format_of(file) == PictureFormat::svg) {
    world::save_file(file, picture_of(found, title + ", step " + step + ": " + request.text));
  } else {
    report::AttentionPageHead head{.title = title,
                                   .texts = texts_of(request, found),
                                   .facts = {{"run", row.name},
                                             {"step", step},
                                             {"shown", size_text(found.texts.front())},
                                             {"text", tokens_text(found.texts.front())}},
                                   .command = shell_command({"exp", "attention", row.name})};
    world::save_file(
        file, report::attention_page(
                  found, head, document::Templates(runner::report_folder(runner::installed_programs()))));
  }
  console.out << title << " (step " << step << ", " << size_text(found.texts.front()) << ", "
              << tokens_text(found.texts.front()) << ") written to " << file.string() << '\n';
  if (const std::string note = report::hidden_layers_note(found.texts.front()); !note.empty())
    console.out << "  " << note << '\n';
  return exit_done;
}

}  // namespace

Verb attention_of_component() {
  return make_verb("attention", "", app::attention_form, attention);
}

}  // namespace encore::cli
