// SPDX-License-Identifier: BSD-3-Clause
// The actions of `exp index`: print what was done to an index of documents, what it has, and which documents
// answer a query. app/index.hpp does the work. It is linked into the program exp-index, which exp becomes for
// these actions (index_main.cpp). Programs read the JSON: members may be added, none renamed.
#include <unistd.h>

#include <algorithm>

#include <encore/lines.hpp>
#include <nlohmann/json.hpp>

#include "app/index.hpp"
#include "base/load_file.hpp"
#include "base/readable_text.hpp"
#include "base/sha256.hpp"
#include "base/terminal_text.hpp"
#include "base/utf8.hpp"
#include "cli/components.hpp"
#include "cli/table.hpp"
#include "config/value.hpp"

namespace encore::cli {

namespace {

using Json = nlohmann::ordered_json;

/// The columns of a document's text in a table.
constexpr int shown_columns = 60;

// --- build, add, remove and show ---

Json json_of(const app::IndexFacts& facts) {
  return {{"version", 1},
          {"index", facts.folder},
          {"documents", facts.documents},
          {"passages", facts.passages},
          {"width", facts.width},
          {"stemming", facts.settings.stemming},
          {"stop_words", facts.settings.stop_words},
          {"passage_words", facts.cuts.words},
          {"overlap_words", facts.cuts.overlap},
          {"digest", facts.digest},
          {"encoder",
           facts.encoder ? Json{{"run", facts.encoder->run}, {"weights", facts.encoder->weights}} : Json()},
          {"engine", facts.engine},
          {"bytes", facts.bytes}};
}

std::string vectors_text(const app::IndexFacts& facts) {
  if (facts.width == 0) return "no vectors";
  return "vectors of width " + std::to_string(facts.width) +
         (facts.encoder ? " by run " + facts.encoder->run : "");
}

int print_change(const std::string& folder, const app::IndexChange& change, bool json, Console& console) {
  if (change.missing > 0) {
    console.noticed("interrupted: " + counted(change.computed, "vector") + " computed, " +
                    counted(change.missing, "vector") +
                    " missing; run the same command again: it resumes from " + folder + ".vectors");
    return exit_interrupted;
  }
  const app::IndexFacts& facts = change.after;
  if (json) {
    Json answer = json_of(facts);
    answer.update({{"added", change.added},
                   {"replaced", change.replaced},
                   {"removed", change.removed},
                   {"computed", change.computed},
                   {"reused", change.reused}});
    console.print(answer);
    return exit_done;
  }
  console.out << facts.folder << ": " << counted(facts.documents, "document")
              << (facts.cuts.words > 0 ? " in " + counted(facts.passages, "passage") : std::string()) << ", "
              << vectors_text(facts) << ", digest " << short_hash(facts.digest) << '\n';
  if (facts.width > 0)
    console.out << counted(change.computed, "vector") << " computed, "
                << thousands(static_cast<std::int64_t>(change.reused)) << " reused\n";
  return exit_done;
}

int index_build(const app::IndexBuildRequest& request, app::App& app, Console& console) {
  return print_change(request.folder, app::build_index(request, app), request.json, console);
}

int index_add(const app::IndexAddRequest& request, app::App& app, Console& console) {
  return print_change(request.folder, app::add_to_index(request, app), request.json, console);
}

/// Returns the lines of a text that are not blank. A byte order mark at the beginning is removed.
std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> all;
  for (Lines lines(without_byte_order_mark(text)); lines.next();)
    if (const std::string_view line = trimmed(lines.line()); !line.empty()) all.emplace_back(line);
  return all;
}

int index_remove(const app::IndexRemoveRequest& request, app::App&, Console& console) {
  std::vector<std::string> ids;
  if (!request.from.empty()) {
    ids = lines_of(request.from == "-" ? console.input() : load_text(request.from, "ids of documents"));
    if (ids.empty())
      throw app::UsageError((request.from == "-" ? "standard input" : request.from) +
                            " has no ids: expected one on each line");
  }
  return print_change(request.folder, app::remove_from_index(request, std::move(ids)), request.json, console);
}

std::string passages_text(const app::IndexFacts& facts) {
  if (facts.cuts.words == 0) return "documents are whole";
  return thousands(static_cast<std::int64_t>(facts.passages)) + " of at most " +
         std::to_string(facts.cuts.words) + " words, with an overlap of at most " +
         std::to_string(facts.cuts.overlap);
}

int index_show(const app::IndexShowRequest& request, app::App&, Console& console) {
  const app::IndexFacts facts = app::show_index(request);
  if (request.json) {
    console.print(json_of(facts));
    return exit_done;
  }
  const auto yes_or_no = [](bool value) { return value ? "yes" : "no"; };
  console.out << "index       " << facts.folder << "\ndocuments   "
              << thousands(static_cast<std::int64_t>(facts.documents)) << "\npassages    "
              << passages_text(facts) << "\nvectors     "
              << (facts.width > 0 ? "width " + std::to_string(facts.width) : std::string("none"))
              << "\nencoder     "
              << (facts.encoder ? facts.encoder->run + " (weights " + short_hash(facts.encoder->weights) + ")"
                                : std::string("-"))
              << "\nstemming    " << yes_or_no(facts.settings.stemming) << "\nstop words  "
              << yes_or_no(facts.settings.stop_words) << "\ndigest      " << facts.digest << "\nengine      "
              << facts.engine << "\nsize        " << bytes_text(facts.bytes) << '\n';
  return exit_done;
}

// --- query ---

std::string rank_text(std::size_t rank) {
  return rank > 0 ? std::to_string(rank) : "-";
}

/// Returns the beginning of a text in one line.
std::string beginning_of(const std::string& text, const Terminal& terminal) {
  std::string line = text;
  std::ranges::replace_if(
      line, [](char letter) { return static_cast<unsigned char>(letter) < ' '; }, ' ');
  return cut_to_width(printable(line), shown_columns, terminal.utf8);
}

void print_hits(const app::IndexAnswer& answer, bool explain, Console& console) {
  std::vector<TableColumn> columns = {{"RANK", Align::right}, {"SCORE", Align::right}, {"DOCUMENT"}};
  if (explain)
    columns.insert(columns.end(), {{"WORD RANK", Align::right},
                                   {"BM25", Align::right},
                                   {"VECTOR RANK", Align::right},
                                   {"COSINE", Align::right}});
  columns.push_back({"TEXT"});
  Table table(columns);
  for (std::size_t i = 0; i < answer.hits.size(); ++i) {
    const auto& [hit, id, text] = answer.hits[i];
    std::vector<Cell> row = {std::to_string(i + 1), fixed(hit.score, 3), printable(id)};
    if (explain)
      row.insert(row.end(),
                 {rank_text(hit.word_rank), hit.word_rank > 0 ? fixed(hit.word_score, 3) : "-",
                  rank_text(hit.vector_rank), hit.vector_rank > 0 ? fixed(hit.vector_score, 3) : "-"});
    row.emplace_back(beginning_of(text, console.terminal));
    table.add(std::move(row));
  }
  table.print(console.out, console.terminal);
}

void print_text(const app::IndexAnswers& found, bool explain, Console& console) {
  if (explain)
    console.out << "method " << name_of(found.fusion.method)
                << (found.fusion.method == SearchMethod::weighted
                        ? ", weight of the vectors " + config::shortest(found.fusion.weight)
                        : std::string())
                << '\n';
  for (const app::IndexAnswer& answer : found.answers) {
    if (found.answers.size() > 1) print_heading(console.out, console.terminal, printable(answer.query));
    if (answer.hits.empty())
      console.out << "no document was found\n";
    else
      print_hits(answer, explain, console);
  }
}

void print_csv(const app::IndexAnswers& found, bool explain, std::ostream& out) {
  std::vector<std::string> heads = {"query", "rank", "document", "score"};
  if (explain) heads.insert(heads.end(), {"word_rank", "word_score", "vector_rank", "vector_score"});
  heads.emplace_back("text");
  out << document::csv_record(heads);
  for (const app::IndexAnswer& answer : found.answers)
    for (std::size_t i = 0; i < answer.hits.size(); ++i) {
      const auto& [hit, id, text] = answer.hits[i];
      std::vector<std::string> row = {answer.query, std::to_string(i + 1), id, config::shortest(hit.score)};
      if (explain)
        row.insert(row.end(), {std::to_string(hit.word_rank), config::shortest(hit.word_score),
                               std::to_string(hit.vector_rank), config::shortest(hit.vector_score)});
      row.push_back(text);
      out << document::csv_record(row);
    }
}

Json json_of(const app::NamedHit& named, bool explain) {
  Json json = {{"document", named.id}, {"score", named.hit.score}};
  if (explain)
    json.update({{"word_rank", named.hit.word_rank},
                 {"word_score", named.hit.word_score},
                 {"vector_rank", named.hit.vector_rank},
                 {"vector_score", named.hit.vector_score}});
  json["text"] = named.text;
  return json;
}

void print_json(const app::IndexQueryRequest& request, const app::IndexAnswers& found, Console& console) {
  Json answers = Json::array();
  for (const app::IndexAnswer& answer : found.answers) {
    Json hits = Json::array();
    for (const app::NamedHit& hit : answer.hits) hits.push_back(json_of(hit, request.explain));
    answers.push_back({{request.like.empty() ? "query" : "like", answer.query}, {"hits", hits}});
  }
  Json json = {{"version", 1},
               {"index", request.folder},
               {"digest", found.digest},
               {"method", name_of(found.fusion.method)}};
  if (found.fusion.method == SearchMethod::weighted) json["weight"] = found.fusion.weight;
  json["answers"] = answers;
  console.print(json);
}

int index_query(const app::IndexQueryRequest& request, app::App& app, Console& console) {
  app::require_index(request.folder);
  std::vector<std::string> queries = request.text;
  if (queries.empty() && request.like.empty()) {
    if (::isatty(STDIN_FILENO) != 0)
      console.noticed("reading queries from the terminal, one on each line; end with Ctrl-D");
    queries = lines_of(console.input());
  }
  const app::IndexAnswers found =
      request.like.empty() ? app::query_index(request, queries, app) : app::query_like(request);
  if (request.json)
    print_json(request, found, console);
  else if (request.csv)
    print_csv(found, request.explain, console.out);
  else
    print_text(found, request.explain, console);
  return exit_done;
}

}  // namespace

std::vector<Verb> verbs_of_index() {
  return {make_verb("index build", "", app::index_build_form, index_build),
          make_verb("index add", "", app::index_add_form, index_add),
          make_verb("index remove", "", app::index_remove_form, index_remove),
          make_verb("index query", "", app::index_query_form, index_query),
          make_verb("index show", "", app::index_show_form, index_show)};
}

}  // namespace encore::cli
