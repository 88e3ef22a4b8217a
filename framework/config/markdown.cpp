// SPDX-License-Identifier: BSD-3-Clause
// Writes the tables of options as Markdown. Read markdown.hpp first. After a change of the layout,
// document_page_test and plugin_pages_test write the pages again.
#include "config/markdown.hpp"

#include <algorithm>
#include <cctype>
#include <map>
#include <set>
#include <sstream>

#include "config/core_schema.hpp"
#include "config/option_text.hpp"

namespace encore::config {

namespace {

std::string code(const std::string& text) {
  return "`" + text + "`";
}

std::string default_cell(const Option& option) {
  if (option.required) return "**required**";
  return option.fallback ? code(default_text(option)) : "-";
}

std::string range_cell(const Option& option) {
  if (option.choices.empty()) return limits_text(option);
  std::string text;
  for (const std::string& choice : option.choices)
    text += (text.empty() ? "" : ", ") + code("\"" + choice + "\"");
  return text;
}

const Schema& core_schema(const std::string& name) {
  static const std::map<std::string, const Schema& (*)()> schemas = {
      {"experiment", top_schema}, {"data", data_schema},
      {"model", model_schema},    {"model.decoder", decoder_schema},
      {"train", train_schema},    {"distil", distil_schema},
      {"sweep", sweep_schema},    {"search", search_schema},
      {"app", app_schema},        {"app.step.model", step_model_schema}};
  const auto found = schemas.find(name);
  if (found == schemas.end()) throw Error("there is no core schema \"" + name + "\"");
  return found->second();
}

/// Returns the table of the measures of a task or a step.
std::string measures_table(const ManifestOffer& offer) {
  if (offer.measures.empty()) return "";
  std::string text = "\n| measure | better | meaning |\n|---|---|---|\n";
  for (const Measure& measure : offer.measures)
    text += "| " + code(measure.name) + " | " + better_text(measure) + " | " + meaning_text(measure) + " |\n";
  if (offer.select.empty()) return text;
  return text + "\nWithout " + code(select_option(offer)) + ", " + select_text(offer) + ".\n";
}

/// Returns what stands for the value of a required option in an example.
std::string placeholder(const Option& option) {
  if (option.type == OptionType::path) return "\"FILE\"";
  return option.type == OptionType::text ? "\"TEXT\"" : "VALUE";
}

/// Returns the lines that an offer needs beside its type: a model, required options, and one of the options
/// of which one is required (a vocabulary that is read or trained, a promise or costs).
std::string needed_beside(const ManifestOffer& offer) {
  const auto has = [&](const char* name) { return offer.options.find(name) != nullptr; };
  std::string lines = offer.asks_model ? "model = { run = \"RUN\" }\n" : "";
  for (const Option& option : offer.options.options())
    if (option.required) lines += option.name + " = " + placeholder(option) + "\n";
  if (offer.kind == Kind::tokenizer && has("vocab") && has("vocab_size"))
    lines += "vocab_size = 8000   # or vocab = \"FILE\"\n";
  if (offer.kind == Kind::step && has("error") && has("cost_wrong") && has("cost_review"))
    lines += "error = 0.05   # or cost_wrong and cost_review\n";
  return lines;
}

/// Returns the sentence in front of the lines that select a type.
std::string selected_by(Kind kind) {
  if (kind != Kind::layer && kind != Kind::step) return "An experiment file selects it with:";
  const std::string begin = "An experiment file selects it with these lines. NAME is a name of your choice";
  if (kind == Kind::step) return begin + ", which `app.steps` lists:";
  return begin +
         ". Write NAME into the list `model.block` (in a decoder: `model.decoder.block`), or into "
         "`model.norm` if the layer is a norm:";
}

/// Returns in one or two sentences what a part of this kind is.
std::string definition_of(Kind kind) {
  constexpr const char* definitions[] = {
      "A *layer* computes a new vector for each token of a sequence; a model consists of blocks of layers, "
      "such as attention and feed-forward.",
      "A *head* is the last part of a model: it turns *states*, the vectors of the tokens, into the outputs "
      "that a task needs, and computes the loss. The task, which turns data into examples, gives it further "
      "arrays, called *columns*, for example the targets.",
      "A *tokenizer* cuts a text into tokens, such as words or parts of words.",
      "An *optimizer* is the rule that changes the parameters of a model in each training step, using their "
      "gradients.",
      "A *schedule* is the rule for the learning rate of each training step.",
      "A *task* is the part that says what a model learns: it turns *records*, the entries of data files, "
      "into examples, and computes predictions and scores.",
      "A *reader* turns a data file into *records*: entries with named fields, which the task turns into "
      "examples.",
      "A *step* is one of the parts of an application, through which every request passes in turn."};
  return definitions[static_cast<int>(kind)];
}

/// Returns the first paragraph of a plugin's page: what the page lists, for whom, and what such parts are.
std::string purpose_of(const Manifest& manifest) {
  if (manifest.offers.empty()) return "";
  std::string parts, definitions;
  std::set<Kind> kinds;
  for (std::size_t i = 0; i < manifest.offers.size(); ++i) {
    const ManifestOffer& offer = manifest.offers[i];
    parts += std::string(i == 0                            ? ""
                         : i + 1 == manifest.offers.size() ? " and "
                                                           : ", ") +
             "the " + encore::name_of(offer.kind) + " " + code(offer.name);
    if (kinds.insert(offer.kind).second) definitions += " " + definition_of(offer.kind);
  }
  const std::string described = kinds.contains(Kind::step)
                                    ? "an application (steps that answer requests with trained models)"
                                    : "a training";
  return "\nThis page lists the options of " + parts +
         ". It is for users who write an experiment file, the TOML file that describes " + described + "." +
         definitions + "\n";
}

/// Returns what a head reads and gives.
std::string forms_tables(const ManifestOffer& offer) {
  std::string text;
  for (const HeadInterface& table : head_interfaces(offer)) {
    text += "\n" + table.sentence + "\n\n| role | name | one for each | value |\n|---|---|---|---|\n";
    for (const HeadRow& row : table.rows)
      text += "| " + row.what + " | " + (row.name.empty() ? "-" : code(row.name)) + " | " +
              (row.space.empty() ? "-" : row.space) + " | " + row.values + " |\n";
  }
  return text;
}

/// Returns the summary as a sentence.
std::string sentence_of(std::string summary) {
  const auto end = summary.find_first_of(" ,(");
  const bool is_word = std::all_of(
      summary.begin(), summary.begin() + static_cast<std::ptrdiff_t>(std::min(end, summary.size())),
      [](unsigned char c) { return std::islower(c) != 0 || c == '-'; });
  if (is_word && !summary.empty())
    summary.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(summary.front())));
  return summary + ".";
}

}  // namespace

std::string markdown_options(const Schema& schema) {
  std::string text = "| option | type | default | range | meaning |\n|---|---|---|---|---|\n";
  for (const Option& option : schema.options())
    text += "| " + code(option.name) + " | " + type_text(option) + " | " + default_cell(option) + " | " +
            range_cell(option) + " | " + option.rule.help + " |\n";
  return text;
}

std::string with_option_tables(const std::string& document) {
  static const std::string mark = "<!-- options of ";
  std::istringstream lines(document);
  std::string out, line;
  while (std::getline(lines, line)) {
    out += line + "\n";
    if (!line.starts_with(mark)) continue;
    const std::string name = line.substr(mark.size(), line.find(' ', mark.size()) - mark.size());
    out += markdown_options(core_schema(name));
    while (line != "<!-- end -->")
      if (!std::getline(lines, line)) throw Error("the options of " + name + " have no line <!-- end -->");
    out += line + "\n";
  }
  return out;
}

std::string markdown_plugin(const Manifest& manifest) {
  std::string text = "# Plugin " + code(manifest.name) + " " + manifest.version + "\n" + purpose_of(manifest);
  for (const ManifestOffer& offer : manifest.offers) {
    text += "\n## " + std::string(encore::name_of(offer.kind)) + " " + code(offer.name) + "\n";
    if (!offer.summary.empty()) text += sentence_of(offer.summary) + "\n\n";
    text += selected_by(offer.kind) + "\n\n```toml\n[" + table_of(offer.kind) + "]\ntype = \"" + offer.name +
            "\"\n" + needed_beside(offer) + "```\n\n";
    text += offer.options.options().empty() ? "It has no options.\n" : markdown_options(offer.options);
    if (const std::string fields = fields_text(offer); !fields.empty()) text += "\n" + fields + ".\n";
    text += measures_table(offer) + forms_tables(offer);
    if (offer.version > 1)
      text +=
          "\nThis is version " + std::to_string(offer.version) + " of the " + encore::name_of(offer.kind) +
          ". With equal options, earlier versions gave other results. The version is part of the identity "
          "of a run.\n";
  }
  return text;
}

std::string markdown_plugin_index(const std::vector<Manifest>& manifests) {
  struct Row {
    Kind kind;
    std::string text;
  };
  std::vector<Row> rows;
  for (const Manifest& manifest : manifests)
    for (const ManifestOffer& offer : manifest.offers)
      rows.push_back({offer.kind, "| " + std::string(encore::name_of(offer.kind)) + " | [" +
                                      code(offer.name) + "](" + manifest.name + ".md) | " + offer.summary +
                                      " |\n"});
  std::ranges::sort(
      rows, [](const Row& a, const Row& b) { return a.kind != b.kind ? a.kind < b.kind : a.text < b.text; });
  std::string text =
      "# The plugins that ship\n\n"
      "Layers, heads, tokenizers, optimizers, schedules, tasks, readers and steps are plugins. A *plugin* "
      "is a shared library\nwith one or more of these parts. This page lists those that ship with Encore, "
      "for users who write an experiment file,\nthe TOML file that describes a training or an "
      "application. The page of each plugin says what such a part is, and lists\nits options. `exp plugin "
      "ls` lists the plugins on your computer, and `exp plugin info NAME` prints the tables of a\nplugin, "
      "also of your own.\n\n"
      "These pages are generated: `ENCORE_WRITE_DOCUMENTS=1 ./exp test -R PluginPages` writes them again "
      "from "
      "the plugins.\n\n"
      "| kind | type | what it is |\n|---|---|---|\n";
  for (const Row& row : rows) text += row.text;
  return text;
}

}  // namespace encore::config
