// SPDX-License-Identifier: BSD-3-Clause
// The step "rerank": its options, the pairs that it asks the model about, and the new order. The worker calls
// it through AppStep (encore/step.hpp). A released default never changes, because runs are identified without
// values that equal their default. Read rerank.hpp first.
#include "rerank.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numeric>
#include <utility>

#include <encore/error.hpp>
#include <nlohmann/json.hpp>

#include "ranking/ranking_measures.hpp"
#include "ranking/weight_choice.hpp"

namespace encore::rerank {
namespace {

using Json = nlohmann::ordered_json;

constexpr int knowledge_version = 1;
/// Parts of the development set that get the weight of the others, to measure its gain.
constexpr std::size_t chosen_parts = 10;

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

/// Returns the scores of the hits of one request, scaled so that the best has 1 and the worst 0; all 1 if
/// they are equal.
std::vector<double> scaled(const std::vector<double>& scores) {
  if (scores.empty()) return {};
  const auto [least, most] = std::ranges::minmax(scores);
  std::vector<double> values;
  for (const double score : scores) values.push_back(most > least ? (score - least) / (most - least) : 1.0);
  return values;
}

/// Returns the weighted sums of the scores of search and model.
std::vector<double> joined(const std::vector<double>& search, const std::vector<double>& model,
                           double weight) {
  const std::vector<double> one = scaled(search), other = scaled(model);
  std::vector<double> sums;
  for (std::size_t i = 0; i < one.size(); ++i) sums.push_back((1.0 - weight) * one[i] + weight * other[i]);
  return sums;
}

/// Returns the places of the hits by falling score; equal scores keep their order.
std::vector<std::size_t> order_of(const std::vector<double>& scores) {
  std::vector<std::size_t> order(scores.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) { return scores[a] > scores[b]; });
  return order;
}

std::string decimal(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3f", value);
  return text;
}

[[noreturn]] void refuse_knowledge() {
  throw Error("the stored weight is damaged: remove the run and run the application again");
}

}  // namespace

Schema Rerank::options() {
  return Schema()
      .text("from", "", {.help = "step whose hits are ordered; \"\" is the step before"})
      .text("label", "",
            {.help =
                 "class whose probability is the score, such as \"relevant\"; \"\" is only for a model that "
                 "predicts a number (task regress), which then is the score"})
      .integer("k", 10, {.help = "documents that an answer names", .min = 1, .max = 1000})
      .number(
          "weight", 1.0,
          {.help = "weight of the model in the score of a hit; the search has the rest. Both scores are "
                   "scaled to 0 to 1 over the hits of a request. 1: the score of the model alone, as it is",
           .min = 0.0,
           .max = 1.0})
      .boolean("fit_weight", false, {.help = "choose the weight on the development set, by nDCG@10"});
}

Rerank::Rerank(const Options& options, const StepContext& context)
    : name_(context.name),
      from_(options.text("from").empty() ? context.before : options.text("from")),
      label_(options.text("label")),
      kept_(static_cast<std::size_t>(options.integer("k"))),
      weight_(options.number("weight")),
      fits_weight_(options.flag("fit_weight")),
      is_ready_(!fits_weight_),
      seed_(context.seed),
      model_(context.model) {
  if (fits_weight_ && weight_ < 1.0)
    throw OptionError("weight", "weight and fit_weight exclude each other: remove one of them");
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
  StepFields fields = {.reads = {request_field, from_ + ".hits", from_ + ".texts"},
                       .truth = {"labels"},
                       .gives = {"hits", "scores", "text", "texts", "ranks", "model_scores"}};
  if (fits_weight_ || weight_ < 1.0) fields.reads.push_back(from_ + ".scores");
  return fields;
}

// --- what the data decide ---

void Rerank::fit(const StepSets& sets) {
  const Records& dev = sets.dev;
  const Records::TextLists &labels = dev.lists("labels"), &found = dev.lists(from_ + ".hits");
  const Records::NumberLists &search = dev.vectors(from_ + ".scores"),
                             model = scores_of(dev.texts(request_field), dev.lists(from_ + ".texts"));
  std::vector<std::size_t> judged;  // requests with a relevant document
  std::vector<ranking::Grades> grades;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    grades.push_back(ranking::grades_in(labels[i]));
    if (ranking::count_relevant(grades.back()) > 0) judged.push_back(i);
  }
  if (judged.empty())
    throw Error("step \"" + name_ +
                "\": no request of the development set has a relevant document to choose the weight by: give "
                "more data as data.dev, raise app.fit, or set weight");
  const auto gains = [&](double weight) {
    ranking::Gains of_weight;
    for (const std::size_t i : judged) {
      std::vector<std::string> ids;
      for (const std::size_t place : order_of(joined(search[i], model[i], weight)))
        ids.push_back(found[i][place]);
      of_weight.push_back(ranking::ndcg(ids, grades[i], ranking::measured_depth));
    }
    return of_weight;
  };
  const ranking::Gains of_search = gains(0.0), of_model = gains(1.0);
  const bool model_is_better = ranking::mean(of_model) > ranking::mean(of_search);
  const ranking::WeightedGains weighted = ranking::best_weight(gains, chosen_parts);
  const ranking::GainInterval gain =
      ranking::gain_over(weighted.unseen, model_is_better ? of_model : of_search, seed_);
  weight_ = gain.helps() ? weighted.weight : model_is_better ? 1.0 : 0.0;
  is_ready_ = true;
  const std::string single = model_is_better ? "the model" : "the search";
  notes_ = {"nDCG@10 on " + std::to_string(judged.size()) + " requests: search " +
                decimal(ranking::mean(of_search)) + ", model " + decimal(ranking::mean(of_model)) +
                ", both (weight " + decimal(weighted.weight) + ") " + decimal(ranking::mean(weighted.unseen)),
            "both gain " + decimal(gain.mean) + " over " + single + " (95 % interval " + decimal(gain.low) +
                " to " + decimal(gain.high) + "): the weight of the model is " + decimal(weight_)};
}

std::string Rerank::knowledge() const {
  if (!fits_weight_) return {};
  return Json{{"version", knowledge_version}, {"weight", weight_}}.dump();
}

void Rerank::restore(std::string_view knowledge) {
  if (!fits_weight_) return AppStep::restore(knowledge);
  const Json json = Json::parse(knowledge, nullptr, false);
  if (!json.is_object()) refuse_knowledge();
  const auto weight = json.find("weight");
  if (weight == json.end() || !weight->is_number_float()) refuse_knowledge();
  weight_ = weight->get<double>();
  if (!(weight_ >= 0.0 && weight_ <= 1.0) || this->knowledge() != knowledge) refuse_knowledge();
  notes_.clear();
  is_ready_ = true;
}

// --- answers ---

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
  ENCORE_REQUIRE(is_ready_, "fit() or restore() comes before apply()");
  const Records::TextLists &found = records.lists(from_ + ".hits"),
                           &documents = records.lists(from_ + ".texts");
  for (std::size_t i = 0; i < found.size(); ++i)
    if (found[i].size() != documents[i].size())
      throw Error("step \"" + from_ + "\" gives " + std::to_string(found[i].size()) + " hits and " +
                  std::to_string(documents[i].size()) +
                  " documents for one record: expected one for each hit");
  const Records::NumberLists model = scores_of(records.texts(request_field), documents);
  Records::TextLists hits(found.size()), kept_documents(found.size());
  Records::NumberLists kept_scores(found.size()), model_scores(found.size()), ranks(found.size());
  Records::Texts best, shown;
  for (std::size_t i = 0; i < found.size(); ++i) {
    const std::vector<double> scores =
        weight_ < 1.0 ? joined(records.vectors(from_ + ".scores")[i], model[i], weight_) : model[i];
    std::vector<std::size_t> order = order_of(scores);
    order.resize(std::min(kept_, order.size()));
    for (const std::size_t place : order) {
      hits[i].push_back(found[i][place]);
      kept_documents[i].push_back(documents[i][place]);
      kept_scores[i].push_back(scores[place]);
      model_scores[i].push_back(model[i][place]);
      ranks[i].push_back(static_cast<double>(place + 1));
    }
    best.push_back(order.empty() ? "" : kept_documents[i].front());
    shown.push_back(order.empty() ? ranking::no_hit_line
                                  : ranking::hit_line(hits[i].front(), kept_scores[i].front(), best.back()));
  }
  Records given;
  given.add("hits", std::move(hits));
  given.add("scores", std::move(kept_scores));
  given.add("text", std::move(best));
  given.add("texts", std::move(kept_documents));
  given.add("ranks", std::move(ranks));
  given.add("model_scores", std::move(model_scores));
  given.add("shown", std::move(shown));
  return given;
}

}  // namespace encore::rerank
