// SPDX-License-Identifier: BSD-3-Clause
// exp embed: prints vectors and nearest neighbours of inputs or words. app/embed.cpp gets them from the
// worker. Read next: app/embed.hpp.
#include "app/embed.hpp"

#include "base/load_file.hpp"
#include "cli/table.hpp"
#include "cli/verbs.hpp"
#include "document/quantity.hpp"

namespace encore {

namespace {

using Json = nlohmann::ordered_json;

void print_vectors(std::ostream& out, const Json& vectors) {
  for (const Json& each : vectors) {
    out << each.at("text").get<std::string>() << '\t';
    const Json& vector = each.at("vector");
    for (std::size_t i = 0; i < vector.size(); ++i)
      out << (i > 0 ? " " : "") << number_text(vector[i].get<double>());
    out << '\n';
  }
}

void print_neighbours(std::ostream& out, const Terminal& terminal, const Json& nearest, bool words) {
  for (const Json& each : nearest) {
    out << "nearest to " << each.at("query").get<std::string>() << '\n';
    std::vector<TableColumn> columns = {{"SIMILARITY", Align::right}, {words ? "WORD" : "TEXT"}};
    if (!words) columns.insert(columns.begin() + 1, {"LINE", Align::right});
    Table table(columns);
    for (const Json& neighbour : each.at("neighbours")) {
      std::vector<Cell> row = {number_text(neighbour.at("similarity").get<double>()),
                               neighbour.at("text").get<std::string>()};
      if (!words) row.insert(row.begin() + 1, std::to_string(neighbour.at("line").get<std::size_t>()));
      table.add(std::move(row));
    }
    table.print(out, terminal, 2);
  }
}

int embed_verb(const EmbedTextRequest& request, App& app, Console& console) {
  const std::string corpus = request.texts.empty()  ? ""
                             : request.texts == "-" ? console.input()
                                                    : load_text(request.texts, "corpus");
  const Embedding embedding = embed(request, app, corpus);
  if (request.json && embedding.answer.is_null()) {
    console.out << "{\"run\":" << Json(embedding.run) << ',' << std::string_view(embedding.text).substr(1);
  } else if (request.json) {
    Json named = {{"run", embedding.run}};
    named.update(embedding.answer);
    console.print(named);
  } else if (embedding.answer.contains("nearest")) {
    print_neighbours(console.out, console.terminal, embedding.answer["nearest"], embedding.of_words);
  } else {
    print_vectors(console.out, embedding.answer.at("vectors"));
  }
  return exit_done;
}

}  // namespace

Verb embed_verb() {
  return make_verb("embed", "compute vectors of text and words, and their nearest neighbours", embed_form,
                   embed_verb);
}

}  // namespace encore
