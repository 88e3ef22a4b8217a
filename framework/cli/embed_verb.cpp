// SPDX-License-Identifier: BSD-3-Clause
// exp embed: prints vectors and nearest neighbours of inputs or words. app/embed.cpp gets them from the
// worker; help_verb.cpp lists the verb. --json prints the worker's answer (record/embed_request.hpp), whose
// members keep their names. Read next: app/embed.hpp.
#include "app/embed.hpp"

#include "base/load_file.hpp"
#include "cli/table.hpp"
#include "cli/verbs.hpp"
#include "config/value.hpp"
#include "document/escape.hpp"
#include "document/quantity.hpp"

namespace encore::cli {

namespace {

void print_vectors(std::ostream& out, const std::vector<record::TextVector>& vectors) {
  for (const record::TextVector& of : vectors) {
    out << of.text << '\t';
    for (std::size_t i = 0; i < of.vector.size(); ++i)
      out << (i > 0 ? " " : "") << document::number_text(of.vector[i]);
    out << '\n';
  }
}

void print_neighbours(std::ostream& out, const Terminal& terminal,
                      const std::vector<record::NearestTexts>& nearest, bool words) {
  for (const auto& [query, neighbours] : nearest) {
    out << "nearest to " << query << '\n';
    std::vector<TableColumn> columns = {{"SIMILARITY", Align::right}, {words ? "WORD" : "TEXT"}};
    if (!words) columns.insert(columns.begin() + 1, {"LINE", Align::right});
    Table table(columns);
    for (const record::NearText& neighbour : neighbours) {
      std::vector<Cell> row = {document::number_text(neighbour.similarity), neighbour.text};
      if (!words) row.insert(row.begin() + 1, std::to_string(neighbour.line.value()));
      table.add(std::move(row));
    }
    table.print(out, terminal, 2);
  }
}

/// Writes the neighbours of all queries, or the vectors: `text,v1,v2,...` with all digits.
void print_embedding_csv(std::ostream& out, const record::EmbedAnswer& answer) {
  if (!answer.nearest.empty()) out << document::csv_record({"query", "similarity", "line", "text"});
  for (const auto& [query, neighbours] : answer.nearest)
    for (const record::NearText& neighbour : neighbours)
      out << document::csv_record({query, config::shortest(neighbour.similarity),
                                   neighbour.line ? std::to_string(*neighbour.line) : "", neighbour.text});
  if (!answer.vectors.empty()) {
    std::vector<std::string> heads = {"text"};
    for (std::size_t i = 1; i <= answer.vectors.front().vector.size(); ++i)
      heads.push_back("v" + std::to_string(i));
    out << document::csv_record(heads);
  }
  for (const record::TextVector& of : answer.vectors) {
    std::vector<std::string> row = {of.text};
    for (const auto number : of.vector) row.push_back(config::shortest(number));
    out << document::csv_record(row);
  }
}

int embed_verb(const app::EmbedTextRequest& request, app::App& app, Console& console) {
  const std::string corpus = request.texts.empty()  ? ""
                             : request.texts == "-" ? console.input()
                                                    : load_text(request.texts, "corpus");
  const app::Embedding embedding = app::embed(request, app, corpus);
  if (!embedding.text.empty()) {
    console.out << "{\"run\":" << nlohmann::json(embedding.run) << ','
                << std::string_view(embedding.text).substr(1);
  } else if (request.json) {
    nlohmann::ordered_json named = {{"run", embedding.run}};
    named.update(to_json_object<nlohmann::ordered_json>(embedding.answer));
    console.print(named);
  } else if (request.csv) {
    print_embedding_csv(console.out, embedding.answer);
  } else {
    print_neighbours(console.out, console.terminal, embedding.answer.nearest, embedding.of_words);
    print_vectors(console.out, embedding.answer.vectors);
  }
  return exit_done;
}

}  // namespace

Verb embed_verb() {
  return make_verb("embed", "compute vectors of text and words, and their nearest neighbours",
                   app::embed_form, embed_verb);
}

}  // namespace encore::cli
