// SPDX-License-Identifier: BSD-3-Clause
// The step "rerank": its options, the pairs that it asks the model about, and the new order. The worker calls
// it through AppStep (encore/step.hpp). A released default never changes, because runs are identified without
// values that equal their default. Read rerank.hpp first.
#include "rerank.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include <encore/error.hpp>

namespace encore::rerank {
namespace {

/// The fields of a pair, as the tasks classify, multilabel and regress read it.
constexpr const char *request_field = "text", *document_field = "text2";
constexpr std::size_t pairs_at_once = 1024;

std::string quoted_names(const std::vector<std::string>& names) {
  std::string list;
  for (const std::string& name : names) list += (list.empty() ? "\"" : ", \"") + name + "\"";
  return list;
}

bool contains(const std::vector<std::string>& names, const std::string& name) {
  return std::ranges::find(names, name) != names.end();
}

/// Returns whether the model refuses a request without a document. TaskFields::optional says only that the
/// task can learn from pairs; a model that was trained on single inputs would ignore the document.
bool needs_document(StepModel& model) {
  if (contains(model.fields().structure, document_field)) return true;
  Records request;
  request.add(request_field, Records::Texts{"request"});
  try {
    model.answer(request);
    return false;
  } catch (const Error&) {
    return true;
  }
}

}  // namespace

Schema Rerank::options() {
  return Schema()
      .text("from", "", {.help = "step whose hits are ordered; \"\" is the step before"})
      .text("label", "",
            {.help =
                 "class whose probability is the score, such as \"relevant\"; \"\" is only for a model that "
                 "predicts a number (task regress), which then is the score"})
      .integer("k", 10, {.help = "documents that an answer names", .min = 1, .max = 1000});
}

Rerank::Rerank(const Options& options, const StepContext& context)
    : name_(context.name),
      from_(options.text("from").empty() ? context.before : options.text("from")),
      label_(options.text("label")),
      kept_(static_cast<std::size_t>(options.integer("k"))),
      model_(context.model) {
  if (from_.empty())
    throw OptionError("from", "no step stands before \"" + name_ +
                                  "\": expected a step that finds documents, such as search; put it in front "
                                  "in app.steps");
  if (model_ == nullptr) return;  // the experiment file is only checked
  require_pairs();
  require_label();
}

void Rerank::require_pairs() const {
  const TaskFields& read = model_->fields();
  const auto is_given = [](const std::string& name) {
    return name == request_field || name == document_field;
  };
  const bool reads_pairs =
      contains(read.structure, request_field) && std::ranges::all_of(read.structure, is_given) &&
      (contains(read.structure, document_field) || contains(read.optional, document_field));
  if (!reads_pairs || !needs_document(*model_))
    throw OptionError("model", "the model of step \"" + name_ +
                                   "\" does not read pairs: expected a model that was trained on pairs of a "
                                   "request and a document, such as one of the task classify or regress with "
                                   "data.text2_column");
}

void Rerank::require_label() const {
  const std::vector<std::string> labels = model_->labels();
  if (labels.empty() && label_.empty()) return;
  if (labels.empty())
    throw OptionError("label", "label = \"" + label_ + "\", but the model of step \"" + name_ +
                                   "\" has no classes: remove label, so that its number is the score");
  if (label_.empty())
    throw OptionError("label", "label is missing: name the class of relevant documents, one of " +
                                   quoted_names(labels) + "; its probability is the score");
  if (!contains(labels, label_))
    throw OptionError("label", "label = \"" + label_ + "\" is not a class of the model of step \"" + name_ +
                                   "\": expected one of " + quoted_names(labels));
  if (const std::string problem = model_->no_scores(); !problem.empty())
    throw OptionError("model", "the model of step \"" + name_ + "\" gives no probabilities: " + problem);
}

StepFields Rerank::fields() const {
  return {.reads = {request_field, from_ + ".hits", from_ + ".texts"},
          .truth = {"labels"},
          .gives = {"hits", "scores", "text", "texts", "ranks"}};
}

Records::Numbers Rerank::scores_of_pairs(Records::Texts requests, Records::Texts documents) {
  Records pairs;
  pairs.add(request_field, std::move(requests));
  pairs.add(document_field, std::move(documents));
  const Records answers = model_->answer(pairs);
  Records::Numbers scores;
  if (!label_.empty())
    for (const auto& of_classes : answers.maps("scores")) scores.push_back(of_classes.at(label_));
  else if (answers.has("number"))
    scores = answers.numbers("number");
  else
    throw Error(
        "step \"" + name_ +
        "\" cannot order documents: its model gives neither classes nor a number; expected a model of "
        "the task classify or regress");
  for (const double score : scores)
    if (!std::isfinite(score))
      throw Error("the model of step \"" + name_ + "\" gives a score that is not a finite number");
  return scores;
}

Records::NumberLists Rerank::scores_of(const Records::Texts& requests, const Records::TextLists& documents) {
  struct Place {
    std::size_t record, hit;
  };
  std::vector<Place> places;
  Records::NumberLists scores;
  for (std::size_t i = 0; i < documents.size(); ++i) {
    scores.emplace_back(documents[i].size());
    for (std::size_t hit = 0; hit < documents[i].size(); ++hit) places.push_back({.record = i, .hit = hit});
  }
  for (std::size_t first = 0; first < places.size(); first += pairs_at_once) {
    const std::size_t count = std::min(pairs_at_once, places.size() - first);
    Records::Texts asked, about;
    for (std::size_t i = first; i < first + count; ++i) {
      asked.push_back(requests[places[i].record]);
      about.push_back(documents[places[i].record][places[i].hit]);
    }
    const Records::Numbers some = scores_of_pairs(std::move(asked), std::move(about));
    for (std::size_t i = 0; i < count; ++i) scores[places[first + i].record][places[first + i].hit] = some[i];
  }
  return scores;
}

Records Rerank::apply(const Records& records) {
  ENCORE_REQUIRE(model_ != nullptr, "a step that answers has a model");
  const Records::TextLists &found = records.lists(from_ + ".hits"),
                           &documents = records.lists(from_ + ".texts");
  const Records::NumberLists scores = scores_of(records.texts(request_field), documents);
  Records::TextLists hits, kept_documents;
  Records::NumberLists kept_scores, ranks;
  Records::Texts best, shown;
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (found[i].size() != documents[i].size())
      throw Error("step \"" + from_ + "\" gives " + std::to_string(found[i].size()) + " hits and " +
                  std::to_string(documents[i].size()) +
                  " documents for one record: expected one for each hit");
    std::vector<std::size_t> order(found[i].size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order,
                             [&](std::size_t a, std::size_t b) { return scores[i][a] > scores[i][b]; });
    order.resize(std::min(kept_, order.size()));
    hits.emplace_back();
    kept_documents.emplace_back();
    kept_scores.emplace_back();
    ranks.emplace_back();
    for (const std::size_t place : order) {
      hits.back().push_back(found[i][place]);
      kept_documents.back().push_back(documents[i][place]);
      kept_scores.back().push_back(scores[i][place]);
      ranks.back().push_back(static_cast<double>(place + 1));
    }
    best.push_back(order.empty() ? "" : kept_documents.back().front());
    shown.push_back(order.empty()
                        ? ranking::no_hit_line
                        : ranking::hit_line(hits.back().front(), kept_scores.back().front(), best.back()));
  }
  Records given;
  given.add("hits", std::move(hits));
  given.add("scores", std::move(kept_scores));
  given.add("text", std::move(best));
  given.add("texts", std::move(kept_documents));
  given.add("ranks", std::move(ranks));
  given.add("shown", std::move(shown));
  return given;
}

}  // namespace encore::rerank
