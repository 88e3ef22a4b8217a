// SPDX-License-Identifier: BSD-3-Clause
// The options of the actions of `exp index`, and their rules (Form, form.hpp). exp checks the command line by
// these forms and then replaces itself by exp-index (cli/components.cpp). Names of options must not change;
// help may. Read next: index_requests.hpp.
#include "app/index_requests.hpp"

#include <encore/document_index.hpp>

namespace encore::app {

namespace {

constexpr const char* folder_argument = "the folder of an index";
constexpr const char* recorded_model =
    "a run with the weights that made the vectors of the index (default: the run that the index names)";

std::string wrong_build(const IndexBuildRequest& request) {
  if (request.documents.empty()) return "--documents is missing: name the file with the documents";
  return passage_problem({.words = static_cast<std::size_t>(request.passage_words),
                          .overlap = static_cast<std::size_t>(request.overlap_words)},
                         "--passage-words", "--overlap-words");
}

std::string wrong_query(const IndexQueryRequest& request) {
  const std::string method = request.method.value_or("");
  if (request.method && method != "words" && method != "vectors" && method != "ranks" && method != "weighted")
    return "invalid --method \"" + method + "\": expected words, vectors, ranks or weighted";
  if (request.weight && method != "weighted") return "--weight needs --method weighted";
  if (!request.like.empty() && !request.text.empty())
    return "--like and a TEXT exclude each other: a document takes the place of a query";
  if (!request.like.empty() && request.model)
    return "--like and --model exclude each other: the index has the vectors of its documents";
  if (request.model && method == "words")
    return "--model and --method words exclude each other: a search by words asks no model";
  if (request.depth < request.count)
    return "invalid --depth " + std::to_string(request.depth) + ": expected at least -k " +
           std::to_string(request.count);
  return "";
}

}  // namespace

Form<IndexBuildRequest> index_build_form() {
  using R = IndexBuildRequest;
  return Form<R>("index build",
                 {"index build FOLDER --documents FILE [options]",
                  "Makes the folder FOLDER with an index of the documents in FILE: a .jsonl file of objects "
                  "with id, text and perhaps title, or another file with lines of id, tab, text. Replaces an "
                  "index that is there. With --model, the vectors are kept beside the folder while they are "
                  "computed: after an interruption, the same command resumes.",
                  {{"exp index build articles.index --documents articles.jsonl",
                    "make an index that is searched by words"},
                   {"exp index build meaning.index --documents articles.jsonl --model quickstart",
                    "also compute vectors with the model of a run"},
                   {"exp index build passages.index --documents articles.jsonl --passage-words 100 "
                    "--overlap-words 20",
                    "find passages of at most 100 words of long documents"}}})
      .option("documents,d", &R::documents, "FILE", "the documents")
      .option("model", &R::model, "RUN", "compute vectors with the best model of this run")
      .flag("stemming", &R::stemming, "words with one stem are equal (Porter's algorithm, for English)")
      .flag("stop-words", &R::stop_words, "ignore frequent English words in queries")
      .option(
          "passage-words", &R::passage_words, "N",
          "cut documents of more than N words into passages of at most N words, at ends of sentences, and "
          "count the best passage of each document; 0: documents stay whole")
      .option("overlap-words", &R::overlap_words, "M",
              "consecutive passages share whole sentences of at most M words")
      .flag("json", &R::json, "as JSON")
      .include(&R::model_options, model_options())
      .argument("folder", &R::folder, "the folder of the new index")
      .range("passage-words", 0, 100000, "invalid --passage-words {}: expected 0 to 100000")
      .range("overlap-words", 0, 100000, "invalid --overlap-words {}: expected 0 to 100000")
      .refuse(wrong_build);
}

Form<IndexAddRequest> index_add_form() {
  using R = IndexAddRequest;
  return Form<R>(
             "index add",
             {"index add FOLDER FILE [options]",
              "Adds the documents in FILE to an index. The vectors of its other documents are reused. The "
              "result equals an index that is built from all documents at once.",
              {{"exp index add articles.index new.jsonl", "add documents"},
               {"exp index add articles.index new.jsonl --replace",
                "also replace the documents that the index has already"}}})
      .flag("replace", &R::replace, "replace documents whose ids the index has")
      .option("model", &R::model, "RUN", recorded_model)
      .flag("json", &R::json, "as JSON")
      .include(&R::model_options, model_options())
      .argument("folder", &R::folder, folder_argument)
      .argument("file", &R::documents, "a file with documents");
}

Form<IndexRemoveRequest> index_remove_form() {
  using R = IndexRemoveRequest;
  return Form<R>("index remove",
                 {"index remove FOLDER [ID...] [options]",
                  "Removes documents from an index. Removes nothing if the index lacks one of the ids.",
                  {{"exp index remove articles.index refunds", "remove one document"},
                   {"exp index remove articles.index --from old.txt",
                    "remove the documents whose ids stand in a file"}}})
      .option("from", &R::from, "FILE", "a file with an id on each line; - for standard input")
      .flag("json", &R::json, "as JSON")
      .argument("folder", &R::folder, folder_argument)
      .argument("id", &R::ids)
      .refuse([](const R& request) -> std::string {
        if (request.ids.empty() && request.from.empty())
          return "name the documents to remove: their ids, or --from with a file of ids";
        return "";
      });
}

Form<IndexQueryRequest> index_query_form() {
  using R = IndexQueryRequest;
  return Form<R>(
             "index query",
             {"index query FOLDER [TEXT...] [options]",
              "Prints the documents that answer each TEXT, or each line of standard input, the best first. "
              "All characters of a query are plain text. With --like, prints the documents that are most "
              "like one of the index.",
              {{"exp index query articles.index \"how do I get a refund?\" -k 3",
                "print the best three documents"},
               {"exp index query meaning.index \"my money back\" --method weighted --weight 0.7 --explain",
                "join vectors and words by a weighted sum, and print what each of them found"},
               {"exp index query articles.index --like returns",
                "print more documents like the document returns"}}})
      .option("like", &R::like, "ID",
              "find documents like the document ID, by its text and its stored vector (may be repeated); of "
              "one that is cut, its first passage counts")
      .option("count,k", &R::count, "N", "print at most N documents for each query")
      .option(
          "method", &R::method, "METHOD",
          "words: BM25; vectors: cosine; ranks: the sum of 1 / (60 + rank) over both; weighted: a weighted "
          "sum of both scores, each scaled to 0 to 1 (default: ranks, or words if the index has no "
          "vectors)")
      .option("weight", &R::weight, "W",
              "weight of the vectors, 0 to 1, for --method weighted; the words have the rest (default: 0.5)")
      .option("depth", &R::depth, "N",
              "words and vectors each find at most N documents before they are joined")
      .flag("explain", &R::explain, "print rank and score of each document by words and by vectors")
      .option("model", &R::model, "RUN", recorded_model)
      .flag("json", &R::json, "as JSON")
      .flag("csv", &R::csv, "as CSV")
      .include(&R::model_options, model_options())
      .argument("folder", &R::folder, folder_argument)
      .argument("text", &R::text)
      .exclude("json", "csv")
      .range("count", 1, 10000, "invalid -k {}: expected 1 to 10000")
      .range("depth", 1, 100000, "invalid --depth {}: expected 1 to 100000")
      .range("weight", 0.0, 1.0, "invalid --weight {}: expected 0 to 1")
      .refuse(wrong_query);
}

Form<IndexShowRequest> index_show_form() {
  using R = IndexShowRequest;
  return Form<R>(
             "index show",
             {"index show FOLDER [options]",
              "Prints what an index has: the number of documents, settings, the digest of the content, the "
              "run that made its vectors, the version of SQLite, and its size. Checks all its files.",
              {{"exp index show articles.index", "print the facts of an index"}}})
      .flag("json", &R::json, "as JSON")
      .argument("folder", &R::folder, folder_argument);
}

}  // namespace encore::app
