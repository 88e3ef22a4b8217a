// embed: what a run's model makes of texts and words: vectors, nearest neighbours, analogies. The worker does
// the work and answers in JSON.
#include <algorithm>
#include <iostream>
#include <iterator>

#include <encore/lines.hpp>
#include <nlohmann/json.hpp>

#include "base/json_text.hpp"
#include "base/load_file.hpp"
#include "cli/access.hpp"
#include "cli/command_line.hpp"
#include "cli/run_plugins.hpp"
#include "cli/run_selection.hpp"
#include "cli/verbs.hpp"
#include "cli/worker_answer.hpp"
#include "document/quantity.hpp"
#include "record/embed_request.hpp"
#include "world/cores.hpp"

namespace encore {

namespace {

using Json = nlohmann::ordered_json;

/// The texts of a corpus, and the lines they stand on: those without text are left out.
struct Corpus {
  std::vector<std::string> texts = {};
  std::vector<std::size_t> lines = {};
};

Corpus load_corpus(const std::string& file) {
  const std::string content =
      file == "-" ? std::string(std::istreambuf_iterator<char>(std::cin), {}) : load_text(file, "corpus");
  Corpus corpus;
  for (Lines lines(content); lines.next();) {
    if (lines.line().find_first_not_of(" \t\v\f") == std::string_view::npos) continue;
    corpus.texts.emplace_back(lines.line());
    corpus.lines.push_back(static_cast<std::size_t>(lines.number()));
  }
  if (corpus.texts.empty())
    throw UsageError((file == "-" ? std::string("the standard input") : file) +
                     " has no line with text; a corpus is a text a line");
  return corpus;
}

EmbedRequest request_of(const CommandLine& line, const Corpus& corpus) {
  const auto count = static_cast<std::size_t>(line.integer("count"));
  if (line.has("analogy")) return {EmbedRequest::Of::analogy, line.texts("analogy"), {}, count};
  if (line.has("near") && line.has("texts"))
    return {EmbedRequest::Of::texts, line.texts("near"), corpus.texts, count};
  if (line.has("near")) return {EmbedRequest::Of::words, line.texts("near"), {}, count};
  return {EmbedRequest::Of::texts, line.has("texts") ? corpus.texts : line.texts("text"), {}, 0};
}

void require_one_question(const CommandLine& line) {
  if (line.integer("count") < 1)
    throw UsageError("-k " + std::to_string(line.integer("count")) + " asks for nothing; give at least 1");
  if (line.has("analogy") && (line.has("near") || line.has("texts")))
    throw UsageError("--analogy is about words of the vocabulary; leave out --near and --texts");
  if (line.has("analogy") && line.texts("analogy").size() != 3)
    throw UsageError("--analogy takes three words: A B C asks for the word that is to C as A is to B");
  const bool asks = line.has("near") || line.has("analogy") || line.has("texts");
  if (asks && line.has("text"))
    throw UsageError("\"" + line.texts("text").front() +
                     "\" is one argument too many; with --near, --texts or --analogy there is only a run");
  if (!asks && !line.has("text"))
    throw UsageError("exp embed needs a text, or --near, --texts or --analogy (exp embed -h shows examples)");
}

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

/// Numbers of candidates become lines of the corpus; those of words mean nothing outside.
void name_places(Json& nearest, const Corpus& corpus) {
  for (Json& each : nearest)
    for (Json& neighbour : each["neighbours"]) {
      const auto number = neighbour.at("number").get<std::size_t>();
      neighbour.erase("number");
      if (!corpus.lines.empty()) neighbour["line"] = corpus.lines[number];
    }
}

CommandLine make_embed_line() {
  namespace po = boost::program_options;
  CommandLine line(
      "embed",
      {"embed RUN [TEXT...] [options]",
       "Vectors of texts and words from the best model of a run, whatever its task is, and what is nearest "
       "to them. A text is the mean of the encoder's last states over its pieces; a word is the mean of the "
       "rows of its pieces in the table of tokens, and no pass is run for it. Nearness is the cosine of the "
       "angle; what is equally near is ordered by its text.",
       {{"exp embed quickstart --near in -k 5", "the words of the vocabulary that are nearest to a word"},
        {"exp embed quickstart --near \"Anna lives in Lund .\" --texts notes.txt",
         "the lines of a file that are nearest to a text"},
        {"exp embed quickstart --analogy Anna Clara Lund", "which words are to Lund as Anna is to Clara"},
        {"exp embed quickstart \"Anna Berg met the mayor of Lund .\" --json", "the vector of a text"}}});
  line.options()("near", po::value<std::vector<std::string>>()->value_name("TEXT"),
                 "what is nearest to this word, or with --texts to this text (may be repeated)");
  line.options()("texts", po::value<std::string>()->value_name("FILE"),
                 "the texts to search, a line each; - for the standard input. Without --near: their vectors");
  line.options()("analogy", po::value<std::vector<std::string>>()->multitoken()->value_name("A B C"),
                 "which words are to C as A is to B");
  line.options()("count,k", po::value<int>()->value_name("N")->default_value(10), "how many neighbours");
  line.options()("json", po::bool_switch(), "as JSON, vectors with all their digits");
  add_model_options(line);
  add_weights_option(line);
  add_run_options(line);
  line.positional("run");
  line.positional("text", -1);
  return line;
}

}  // namespace

int embed_verb(const Arguments& arguments) {
  CommandLine line = make_embed_line();
  if (!line.parse(arguments)) return exit_done;
  const RunSelection selection = selection_from(line, {line.required("run", "a run")});
  require_one_question(line);
  require_threads(line.integer("threads"));
  const Corpus corpus = line.has("texts") ? load_corpus(line.text("texts")) : Corpus();

  Store store(line.database(), OpenMode::read);
  const RunRow row = selected_run(line, store, selection);
  const TrainedRun run = find_trained_run(store, row, line.text("backend"));
  const EmbedRequest request = request_of(line, corpus);
  const std::string text = worker_answer_text(
      run.worker,
      worker_arguments(line, run, "embed", {"--threads", std::to_string(line.integer("threads"))}),
      request.text());
  if (line.flag("json") && request.asks_for_vectors()) {  // millions of numbers, written as the worker has
    std::cout << "{\"run\":" << Json(row.name) << ',' << std::string_view(text).substr(1);
    return exit_done;
  }
  Json answer = parse_json<Json>(text);
  if (answer.contains("nearest")) name_places(answer["nearest"], corpus);
  if (line.flag("json")) {
    Json named = {{"run", row.name}};
    named.update(answer);
    std::cout << named.dump(2) << '\n';
  } else if (answer.contains("nearest")) {
    print_neighbours(std::cout, terminal_of(stdout), answer["nearest"], corpus.lines.empty());
  } else {
    print_vectors(std::cout, answer.at("vectors"));
  }
  return exit_done;
}

}  // namespace encore
