// SPDX-License-Identifier: BSD-3-Clause
// The steps "search" and "keyword_search": their options, the index that they build, and answers.
// The worker calls them through AppStep (encore/step.hpp). A released default never changes, because runs are
// identified without values that equal their default. Read search.hpp first.
#include "search.hpp"

#include <algorithm>
#include <cstdio>
#include <map>
#include <utility>

#include <encore/error.hpp>
#include <encore/lines.hpp>
#include <nlohmann/json.hpp>

#include "fusion_choice.hpp"
#include "ranking/ranking_measures.hpp"

namespace encore::search {
namespace {

using Json = nlohmann::json;

constexpr int knowledge_version = 1;
constexpr std::size_t inputs_at_once = 1024;

Schema common_options() {
  return Schema()
      .required(
          "documents", OptionType::path,
          {.help = "the documents: a .jsonl file of objects with \"id\", \"text\" and perhaps \"title\", "
                   "or another file with lines of id, tab, text"})
      .integer("k", 10, {.help = "largest number of documents that an answer names", .min = 1, .max = 1000})
      .integer(
          "depth", 100,
          {.help = "number of documents that a search by words or by vectors finds, before both lists are "
                   "joined; at least k",
           .min = 1,
           .max = 10000})
      .boolean("stemming", false, {.help = "words with one stem are equal (Porter's algorithm, for English)"})
      .boolean("stop_words", false, {.help = "ignore frequent English words in requests"})
      .integer(
          "passage_words", 0,
          {.help = "cut documents of more words into passages of at most this number of words, and count "
                   "the best passage of each document; 0: documents stay whole",
           .min = 0,
           .max = 100000})
      .integer("passage_overlap", 0,
               {.help = "consecutive passages share whole sentences of at most this number of words",
                .min = 0,
                .max = 100000});
}

std::string decimal(double value, const char* format = "%.3f") {
  char text[32];
  std::snprintf(text, sizeof text, format, value);
  return text;
}

std::string text_of(const Fusion& fusion) {
  return fusion.method == SearchMethod::weighted ? "weighted (weight " + decimal(fusion.weight, "%.2f") + ")"
                                                 : name_of(fusion.method);
}

[[noreturn]] void refuse_knowledge(const std::string& problem) {
  throw Error("the stored knowledge of a search is damaged (" + problem +
              "): remove the run and run the application again");
}

}  // namespace

// --- options ---

Schema Search::options() {
  Schema schema = common_options();
  schema
      .choice(
          "method", "auto", {"auto", "words", "vectors", "ranks", "weighted"},
          {.help = "how documents are found. auto: choose by nDCG@10 on the development set, whose records "
                   "then name relevant documents in the field \"labels\", and join words and vectors "
                   "only if this helps beyond chance; words: BM25; vectors: cosine; ranks: reciprocal rank "
                   "fusion; weighted: the weighted sum of scaled scores"})
      .number("weight", 0.5,
              {.help = "weight of the vectors if method is weighted; the words have the rest",
               .min = 0.0,
               .max = 1.0});
  return schema;
}

Schema KeywordSearch::options() {
  return common_options();
}

Search::Search(const Options& options, const StepContext& context)
    : IndexStep(options, context,
                options.text("method") == "auto"
                    ? std::nullopt
                    : std::optional(Fusion{.method = *search_method_named(options.text("method")),
                                           .weight = options.number("weight")})) {
  if (context.model == nullptr) return;
  if (const std::string problem = context.model->no_vectors(); !problem.empty())
    throw OptionError("method", "the model of step \"" + context.name + "\" gives no vectors: " + problem +
                                    "; take a model that has them, or a step of the type keyword_search");
}

KeywordSearch::KeywordSearch(const Options& options, const StepContext& context)
    : IndexStep(options, context, Fusion{.method = SearchMethod::words}) {}

IndexStep::IndexStep(const Options& options, const StepContext& context, std::optional<Fusion> fusion)
    : name_(context.name),
      documents_(options.text("documents")),
      folder_(context.folder),
      hits_(static_cast<std::size_t>(options.integer("k"))),
      depth_(static_cast<std::size_t>(options.integer("depth"))),
      settings_({.stemming = options.flag("stemming"), .stop_words = options.flag("stop_words")}),
      passages_({.words = static_cast<std::size_t>(options.integer("passage_words")),
                 .overlap = static_cast<std::size_t>(options.integer("passage_overlap"))}),
      seed_(context.seed),
      model_(context.model),
      wanted_(fusion),
      fusion_(fusion.value_or(Fusion{})) {
  if (depth_ < hits_)
    throw OptionError("depth", "depth = " + std::to_string(depth_) +
                                   " is below k = " + std::to_string(hits_) +
                                   ": expected at least as many documents as an answer names");
  if (const std::string problem = passage_problem(passages_, "passage_words", "passage_overlap");
      !problem.empty())
    throw OptionError("passage_overlap", problem);
}

StepFields IndexStep::fields() const {
  return {.reads = {"text"},
          .truth = {"labels"},
          .gives = {"hits", "scores", "text", "texts", "word_ranks", "word_scores", "vector_ranks",
                    "vector_scores"}};
}

// --- what the data decide ---

Records::NumberLists IndexStep::vectors_of(const Records::Texts& inputs) {
  Records::NumberLists vectors(inputs.size());
  std::size_t width = 0;
  for (std::size_t first = 0; first < inputs.size(); first += inputs_at_once) {
    std::vector<std::size_t> numbers;
    Records::Texts asked;
    for (std::size_t i = first; i < std::min(inputs.size(), first + inputs_at_once); ++i) {
      if (trimmed(inputs[i]).empty()) continue;
      numbers.push_back(i);
      asked.push_back(inputs[i]);
    }
    if (asked.empty()) continue;
    Records::NumberLists some = model_->vectors(asked);
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      width = some[i].size();
      vectors[numbers[i]] = std::move(some[i]);
    }
  }
  for (std::vector<double>& vector : vectors)
    if (vector.empty()) vector.resize(width > 0 || !index_ ? width : index_->width());
  return vectors;
}

void IndexStep::build_index() {
  const std::vector<IndexedDocument> documents = load_passages(documents_, passages_);
  index_.reset();
  DocumentIndexWriter writer(folder_, settings_, passages_);
  if (needs_vectors()) {
    Records::Texts inputs;
    for (const IndexedDocument& document : documents) inputs.push_back(document.text);
    const Records::NumberLists vectors = vectors_of(inputs);
    for (std::size_t i = 0; i < documents.size(); ++i) writer.add(documents[i], vectors[i]);
  } else {
    for (const IndexedDocument& document : documents) writer.add(document);
  }
  writer.commit();
  index_.emplace(folder_);
  notes_ = {
      std::to_string(index_->size()) + " documents are in the index, " +
      (passages_.words > 0 ? "cut into " + std::to_string(index_->passage_count()) + " passages, " : "") +
      "with digest " + index_->digest().substr(0, 12) + ", made with " + index_engine() +
      (needs_vectors() ? ", and vectors of width " + std::to_string(index_->width()) : "")};
}

void IndexStep::choose(const Records& dev) {
  const Records::Texts& queries = dev.texts("text");
  std::vector<std::size_t> judged;
  std::vector<ranking::Grades> grades;
  for (std::size_t i = 0; i < queries.size(); ++i) {
    ranking::Grades of_query = ranking::grades_in(dev.lists("labels")[i]);
    if (ranking::count_relevant(of_query) == 0) continue;
    judged.push_back(i);
    grades.push_back(std::move(of_query));
  }
  if (judged.empty())
    throw Error(
        "no record of the development set names a relevant document, so no method can be chosen: give "
        "some in the field \"labels\", or set method");
  Records::Texts asked;
  for (const std::size_t i : judged) asked.push_back(queries[i]);
  const Records::NumberLists vectors = vectors_of(asked);
  std::vector<JudgedQuery> all;
  for (std::size_t i = 0; i < judged.size(); ++i)
    all.push_back({.words = index_->find_words(asked[i], depth_),
                   .vectors = index_->find_nearest(vectors[i], depth_),
                   .gain = [this, &grades, i](const std::vector<FusedHit>& hits) {
                     std::vector<std::string> ids;
                     for (const FusedHit& hit : hits) ids.push_back(index_->id(hit.position));
                     return ranking::ndcg(ids, grades[i], ranking::measured_depth);
                   }});
  const FusionChoice choice = choose_fusion(all, seed_);
  fusion_ = choice.fusion;
  notes_.push_back("nDCG@10 on " + std::to_string(all.size()) + " queries: words " + decimal(choice.words) +
                   ", vectors " + decimal(choice.vectors) + ", " + text_of(choice.joined) + " " +
                   decimal(choice.fused));
  notes_.push_back(text_of(choice.joined) + " gains " + decimal(choice.gain, "%+.3f") + " over " +
                   name_of(choice.single) + " (95 % interval " + decimal(choice.low, "%+.3f") + " to " +
                   decimal(choice.high, "%+.3f") + "): the method is " + text_of(choice.fusion));
}

void IndexStep::fit(const StepSets& sets) {
  build_index();
  if (!wanted_) choose(sets.dev);
}

std::string IndexStep::knowledge() const {
  ENCORE_REQUIRE(index_.has_value(), "fit() comes before knowledge()");
  return Json{{"version", knowledge_version},
              {"documents", index_->size()},
              {"index", index_->digest()},
              {"method", name_of(fusion_.method)},
              {"weight", fusion_.weight}}
      .dump();
}

void IndexStep::restore(std::string_view knowledge) {
  const Json json = Json::parse(knowledge, nullptr, false);
  if (!json.is_object()) refuse_knowledge("it is not a JSON object");
  const auto method = json.find("method"), weight = json.find("weight");
  if (method == json.end() || !method->is_string() || weight == json.end() || !weight->is_number())
    refuse_knowledge("\"method\" or \"weight\" is missing");
  const std::optional<SearchMethod> known = search_method_named(method->get_ref<const std::string&>());
  if (!known) refuse_knowledge("unknown method");
  fusion_ = {.method = *known, .weight = weight->get<double>()};
  index_.emplace(folder_);
  if (this->knowledge() != knowledge)
    throw Error("the index in " + folder_.string() +
                " is not the one that was built for this run: remove the run and run the application again");
}

// --- answers ---

std::vector<FusedHit> IndexStep::found(const std::string& query, std::span<const double> vector) const {
  return index_->find(query, vector, fusion_, depth_, hits_);
}

/// The fields of answers, filled record by record.
class IndexStep::Answers {
 public:
  void add(const DocumentIndex& index, const std::vector<FusedHit>& hits) {
    std::vector<std::string> ids, documents;
    for (const FusedHit& hit : hits) {
      ids.push_back(index.id(hit.position));
      documents.push_back(index.passage_text(hit.passage));
    }
    best_.push_back(hits.empty() ? "" : documents.front());
    shown_.push_back(hits.empty() ? ranking::no_hit_line
                                  : ranking::hit_line(ids.front(), hits.front().score, best_.back()));
    ids_.push_back(std::move(ids));
    documents_.push_back(std::move(documents));
    add(numbers_["scores"], hits, [](const FusedHit& hit) { return hit.score; });
    add(numbers_["word_ranks"], hits, [](const FusedHit& hit) { return static_cast<double>(hit.word_rank); });
    add(numbers_["word_scores"], hits, [](const FusedHit& hit) { return hit.word_score; });
    add(numbers_["vector_ranks"], hits,
        [](const FusedHit& hit) { return static_cast<double>(hit.vector_rank); });
    add(numbers_["vector_scores"], hits, [](const FusedHit& hit) { return hit.vector_score; });
  }

  Records records() && {
    Records given;
    given.add("hits", std::move(ids_));
    given.add("text", std::move(best_));
    given.add("texts", std::move(documents_));
    for (auto& [name, values] : numbers_) given.add(name, std::move(values));
    given.add("shown", std::move(shown_));
    return given;
  }

 private:
  template <class Take>
  static void add(Records::NumberLists& lists, const std::vector<FusedHit>& hits, const Take& take) {
    std::vector<double>& list = lists.emplace_back();
    for (const FusedHit& hit : hits) list.push_back(take(hit));
  }

  Records::TextLists ids_, documents_;
  Records::Texts best_, shown_;
  std::map<std::string, Records::NumberLists> numbers_;
};

Records IndexStep::apply(const Records& records) {
  ENCORE_REQUIRE(index_.has_value(), "fit() or restore() comes before apply()");
  const Records::Texts& queries = records.texts("text");
  Records::NumberLists vectors(queries.size());
  if (fusion_.uses_vectors()) vectors = vectors_of(queries);
  Answers answers;
  for (std::size_t i = 0; i < queries.size(); ++i) answers.add(*index_, found(queries[i], vectors[i]));
  return std::move(answers).records();
}

}  // namespace encore::search
