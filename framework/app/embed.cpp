// SPDX-License-Identifier: BSD-3-Clause
// `exp embed`: asks the worker for vectors or neighbours, and replaces the numbers of candidates in its
// answer by line numbers of the corpus. cli/embed_verb.cpp calls embed(). The worker sees only the non-empty
// lines, so Corpus keeps where each was. Read next: embed.hpp.
#include "app/embed.hpp"

#include <encore/lines.hpp>

#include "app/worker_answer.hpp"

namespace encore::app {

namespace {

/// The non-empty lines of a corpus, with their line numbers.
struct Corpus {
  std::vector<std::string> texts = {};
  std::vector<std::size_t> lines = {};
};

Corpus corpus_in(const std::string& content, const std::string& file) {
  Corpus corpus;
  for (Lines lines(content); lines.next();) {
    if (lines.line().find_first_not_of(" \t\v\f") == std::string_view::npos) continue;
    corpus.texts.emplace_back(lines.line());
    corpus.lines.push_back(static_cast<std::size_t>(lines.number()));
  }
  if (corpus.texts.empty())
    throw UsageError((file == "-" ? std::string("standard input") : file) +
                     " has no line with text: expected one text on each line");
  return corpus;
}

record::EmbedRequest request_of(const EmbedTextRequest& request, const Corpus& corpus) {
  const auto count = static_cast<std::size_t>(request.count);
  if (!request.analogy.empty()) return {record::EmbedRequest::Of::analogy, request.analogy, {}, count};
  if (!request.near.empty() && !request.texts.empty())
    return {record::EmbedRequest::Of::texts, request.near, corpus.texts, count};
  if (!request.near.empty()) return {record::EmbedRequest::Of::words, request.near, {}, count};
  return {record::EmbedRequest::Of::texts, !request.texts.empty() ? corpus.texts : request.text, {}, 0};
}

std::string wrong_question(const EmbedTextRequest& request) {
  if (!request.analogy.empty() && (!request.near.empty() || !request.texts.empty()))
    return "--analogy searches words of the vocabulary; remove --near and --texts";
  if (!request.analogy.empty() && request.analogy.size() != 3)
    return "--analogy takes three words: A B C asks for the word that is to C as A is to B";
  const bool asks = !request.near.empty() || !request.analogy.empty() || !request.texts.empty();
  if (asks && !request.text.empty())
    return "\"" + request.text.front() +
           "\" is one argument too many; --near, --texts and --analogy take only a run";
  if (!asks && request.text.empty())
    return "exp embed needs a text, or --near, --texts or --analogy (exp embed -h shows examples)";
  return "";
}

/// Replaces the numbers of candidates by line numbers of the corpus. For words, removes these numbers, which
/// are rows of the vocabulary and mean nothing to users.
void name_places(record::EmbedAnswer& answer, const Corpus& corpus) {
  for (record::NearestTexts& nearest : answer.nearest)
    for (record::NearText& neighbour : nearest.neighbours) {
      if (!corpus.lines.empty()) neighbour.line = corpus.lines.at(neighbour.number.value());
      neighbour.number.reset();
    }
}

}  // namespace

Form<EmbedTextRequest> embed_form() {
  using R = EmbedTextRequest;
  return Form<R>(
             "embed",
             {"embed RUN [TEXT...] [options]",
              "Computes vectors of text and words with the best model of a run of any task, and finds their "
              "nearest neighbours. The vector of a text is the mean of the encoder's last states over its "
              "tokens; a word is the mean of the rows of its tokens in the table of tokens, and no pass is "
              "run for it. Nearness is the cosine of the angle; what is equally near is ordered by its text.",
              {{"exp embed quickstart --near in -k 5",
                "the words of the vocabulary that are nearest to a word"},
               {"exp embed quickstart --near \"Anna lives in Lund .\" --texts notes.txt",
                "the lines of a file that are nearest to a text"},
               {"exp embed quickstart --analogy Anna Clara Lund",
                "which words are to Lund as Anna is to Clara"},
               {"exp embed quickstart \"Anna Berg met the mayor of Lund .\" --json",
                "print the vector of a text"}}})
      .option("near", &R::near, "TEXT",
              "find the neighbours of this word, or with --texts of this text (may be repeated)")
      .option("texts", &R::texts, "FILE",
              "a file to search, one text on each line; - for standard input. Without --near: print their "
              "vectors")
      .option("analogy", &R::analogy, "A B C", "find the words that are to C as A is to B")
      .several()
      .option("count,k", &R::count, "N", "number of neighbours")
      .flag("json", &R::json, "print JSON, vectors with all their digits")
      .flag("csv", &R::csv, "print CSV: neighbours, or a text and its vector on each line")
      .include(&R::model, weights_options())
      .include(&R::selection, run_options())
      .argument("run", &R::run, "a run")
      .argument("text", &R::text)
      .exclude("json", "csv")
      .least("count", 1, "invalid -k {}: expected at least 1")
      .refuse(wrong_question);
}

Embedding embed(const EmbedTextRequest& request, const App& app, const std::string& content) {
  const Corpus corpus = request.texts.empty() ? Corpus() : corpus_in(content, request.texts);
  store::Store store(app.database, store::OpenMode::read);
  const store::RunRow row = selected_run(app, store, selection_from(request.selection, {request.run}));
  const TrainedRun run = find_trained_run(store, row, request.model.backend);
  const record::EmbedRequest wanted = request_of(request, corpus);
  Embedding embedding{.run = row.name, .of_words = corpus.lines.empty()};
  const std::vector<std::string> arguments = worker_arguments(
      app, request.model, run, "embed", {"--threads", std::to_string(request.model.threads)});
  if (request.json && wanted.asks_for_vectors()) {
    embedding.text = worker_answer_text(app.events, run.worker, arguments, wanted.text());
  } else {
    embedding.answer = worker_answer<record::EmbedAnswer>(app.events, run.worker, arguments, wanted.text());
    name_places(embedding.answer, corpus);
  }
  return embedding;
}

}  // namespace encore::app
