// SPDX-License-Identifier: BSD-3-Clause
// The step "decide": its options, what it reads from records, and the answers that it gives; measures.cpp
// counts. The worker calls it through AppStep (encore/step.hpp). A released default never changes, because
// runs are identified without values that equal their default. Read decide.hpp first.
#include "decide.hpp"

#include <cmath>
#include <cstddef>
#include <cstdio>
#include <utility>

#include <encore/error.hpp>

namespace encore::decide {
namespace {

/// The probabilities of a classifier sum to 1 but for rounding.
constexpr double sum_tolerance = 1e-3;

OptionRule share_between(std::string help) {
  return {.help = std::move(help), .min = 0.0, .max = 1.0, .exclusive_min = true, .exclusive_max = true};
}

std::optional<double> optional_number(const Options& options, const char* name) {
  if (!options.has(name)) return std::nullopt;
  return options.number(name);
}

void require_scope(const Options& options, const char* name) {
  if (options.has(name) && options.text("out_of_scope").empty())
    throw OptionError(name,
                      std::string(name) +
                          " needs the label of requests that belong to no class: set out_of_scope, such as "
                          "out_of_scope = \"oos\", or remove " +
                          name);
}

/// Returns the costs, if the options have any. Throws OptionError if there are promises (`error`, `missed`)
/// too.
std::optional<Costs> costs_in(const Options& options) {
  for (const char* cost : {"cost_wrong", "cost_review", "cost_missed"}) {
    if (!options.has(cost)) continue;
    for (const char* promise : {"error", "missed"})
      if (options.has(promise))
        throw OptionError(
            cost, std::string(cost) + " and " + promise +
                      " exclude each other: thresholds either keep a promise or minimise a cost; remove "
                      "one of them");
    for (const char* needed : {"cost_wrong", "cost_review"})
      if (!options.has(needed))
        throw OptionError(cost,
                          std::string(cost) + " needs " + needed +
                              " too: give the costs of a wrong answer and of a review in the same unit");
  }
  if (!options.has("cost_wrong")) return std::nullopt;
  return Costs{.wrong = options.number("cost_wrong"),
               .review = options.number("cost_review"),
               .missed = optional_number(options, "cost_missed")};
}

Settings settings_in(const Options& options, const StepContext& context) {
  for (const char* name : {"missed", "cost_missed", "out_of_scope_share"}) require_scope(options, name);
  Settings settings{.step = context.name,
                    .out_of_scope = options.text("out_of_scope"),
                    .error = optional_number(options, "error"),
                    .missed = optional_number(options, "missed"),
                    .confidence = options.number("confidence"),
                    .costs = costs_in(options),
                    .share = optional_number(options, "out_of_scope_share")};
  if (!settings.error && !settings.costs)
    throw OptionError(
        "error",
        "error is missing: expected the share of wrong answers that is allowed, such as error = 0.05, or "
        "the costs cost_wrong and cost_review");
  return settings;
}

std::string percent(double share, int digits) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.*f %%", digits, 100.0 * share);
  return text;
}

std::string record_place(std::size_t record) {
  return "record " + std::to_string(record + 1) + ": ";
}

}  // namespace

Schema Decide::options() {
  Schema schema;
  schema.text("of", "", {.help = "step whose answers are decided on; \"\": the step before"})
      .text("truth", "label", {.help = "field of the records with the true label"})
      .optional("error", OptionType::number,
                share_between(
                    "promise: at most this share of the automatic answers is wrong; an answer to a request "
                    "out of scope counts as wrong; required without costs"))
      .optional("missed", OptionType::number,
                share_between(
                    "promise: at most this share of the refused requests is in scope; without it no request "
                    "is refused; needs error and out_of_scope"))
      .number("confidence", 0.95, share_between("probability with which each promise holds"))
      .optional(
          "cost_wrong", OptionType::number,
          {.help = "cost of a wrong answer, in any unit; needs cost_review and excludes error and missed",
           .min = 0.0})
      .optional(
          "cost_review", OptionType::number,
          {.help = "cost of a request that a person reviews, in the same unit; needs cost_wrong", .min = 0.0})
      .optional("cost_missed", OptionType::number,
                {.help = "cost of refusing a request in scope, in the same unit; if costs are given without "
                         "it, no request is refused; needs the other two costs and out_of_scope",
                 .min = 0.0})
      .text("out_of_scope", "",
            {.help = "true label of requests that belong to no class; \"\": there are none"})
      .optional("out_of_scope_share", OptionType::number,
                {.help = "expected share of requests out of scope in service; without it that of the "
                         "development set; needs out_of_scope",
                 .min = 0.0,
                 .max = 1.0,
                 .exclusive_max = true})
      .choice(
          "distance", "auto", {"auto", "on", "off"},
          {.help = "whether the scores of a request also use the distance of its vector to the mean vectors "
                   "of the classes; this needs vectors = true in the step before. auto: if that step "
                   "gives vectors; on: always; off: never"});
  return schema;
}

Decide::Decide(const Options& options, const StepContext& context)
    : settings_(settings_in(options, context)),
      of_(options.text("of").empty() ? context.before : options.text("of")),
      truth_(options.text("truth")),
      distance_(options.text("distance")) {
  if (of_.empty())
    throw OptionError(
        "of", "no step stands before \"" + context.name +
                  "\": expected a step that gives a label and the probability of every class, such as "
                  "predict; put it in front in app.steps");
}

StepFields Decide::fields() const {
  StepFields fields{.reads = {field("label"), field("scores")},
                    .truth = {truth_},
                    .gives = {"band", "label", "confidence", "scope"}};
  if (distance_ == "on") fields.reads.push_back(field(vector_field));
  return fields;
}

std::vector<Request> Decide::requests_in(const Records& records, bool needs_vectors) const {
  const Records::Texts* labels = nullptr;
  const Records::NumberMaps* scores = nullptr;
  const Records::NumberLists* vectors = nullptr;
  try {
    labels = &records.texts(field("label"));
    scores = &records.maps(field("scores"));
  } catch (const Error&) {
    throw Error("step \"" + settings_.step + "\" cannot decide on step \"" + of_ +
                "\": expected one label of each request (" + field("label") +
                ") and the probability of every class (" + field("scores") +
                "); use a model with one label for each text, such as that of the task classify");
  }
  if (needs_vectors) {
    if (!records.has(field(vector_field)))
      throw Error("step \"" + settings_.step + "\" needs a vector of each text for distance = \"" +
                  distance_ + "\": set vectors = true in step \"" + of_ + "\", or distance = \"off\" here");
    vectors = &records.vectors(field(vector_field));
  }
  std::vector<Request> requests;
  requests.reserve(records.size());
  for (std::size_t i = 0; i < records.size(); ++i) {
    const Scores& each = (*scores)[i];
    double sum = 0.0;
    bool is_sound = true;
    for (const auto& [label, probability] : each) {
      sum += probability;
      is_sound = is_sound && probability >= 0.0 && probability <= 1.0 + sum_tolerance;
    }
    if (!is_sound || !(std::abs(sum - 1.0) <= sum_tolerance))
      throw Error(record_place(i) + "the numbers in " + field("scores") +
                  " are not probabilities of classes that exclude each other: expected a sum of 1, found " +
                  std::to_string(sum));
    if (!each.contains((*labels)[i]))
      throw Error(record_place(i) + field("scores") + " has no probability of the label \"" + (*labels)[i] +
                  "\" in " + field("label"));
    requests.push_back({.label = &(*labels)[i], .scores = &each});
    if (vectors == nullptr) continue;
    const std::vector<double>& vector = (*vectors)[i];
    for (const double number : vector) is_sound = is_sound && std::isfinite(number);
    if (!is_sound || vector.empty() || vector.size() != vectors->front().size())
      throw Error(record_place(i) + field(vector_field) +
                  " is not a vector of finite numbers with the width of the others");
    requests.back().vector = &vector;
  }
  return requests;
}

TrainingVectors Decide::training_vectors(const Records& train) const {
  TrainingVectors vectors;
  const std::vector<Request> requests = requests_in(train, true);
  const Records::Texts& truths = train.texts(truth_);
  for (std::size_t i = 0; i < requests.size(); ++i) {
    vectors.vectors.push_back(requests[i].vector);
    vectors.truths.push_back(&truths[i]);
  }
  return vectors;
}

void Decide::fit(const StepSets& sets) {
  const bool has_vectors = sets.dev.has(field(vector_field));
  const bool uses_distance = distance_ == "on" || (distance_ == "auto" && has_vectors);
  const std::vector<Request> requests = requests_in(sets.dev, uses_distance);
  if (requests.empty())
    throw Error(
        "step \"" + settings_.step +
        "\": the development set has no example to fit on: give more data as data.dev or raise app.fit");
  const Records::Texts& truths = sets.dev.texts(truth_);
  std::vector<KnownRequest> dev;
  dev.reserve(requests.size());
  for (std::size_t i = 0; i < requests.size(); ++i)
    dev.push_back({.request = requests[i], .truth = &truths[i]});
  TrainingVectors train;
  if (uses_distance && sets.train != nullptr) {
    train = training_vectors(*sets.train);
    if (!train.vectors.empty() && train.vectors.front()->size() != requests.front().vector->size())
      throw Error("step \"" + settings_.step +
                  "\": the vectors of the training set have another width than those of "
                  "the development set");
  }
  Fitted fitted = decide::fit(dev, train, uses_distance, settings_);
  knowledge_ = std::move(fitted.knowledge);
  notes_ = std::move(fitted.notes);
  if (!uses_distance && distance_ == "auto" && sets.train != nullptr)
    notes_.push_back("the training set is read but not used, because step \"" + of_ +
                     "\" gives no vectors: set vectors = true there, or distance = \"off\" here");
  is_ready_ = true;
}

void Decide::restore(std::string_view knowledge) {
  knowledge_ = knowledge_in(knowledge);
  notes_.clear();
  is_ready_ = true;
}

Records Decide::apply(const Records& records) {
  ENCORE_REQUIRE(is_ready_, "the step is fitted or restored");
  const std::vector<Request> requests = requests_in(records, knowledge_.distance.has_value());
  Records::Texts bands, labels, shown;
  Records::Numbers confidences, scopes;
  for (std::size_t i = 0; i < requests.size(); ++i) {
    const Request& request = requests[i];
    if (knowledge_.distance && request.vector->size() != knowledge_.distance->classes.width())
      throw Error(record_place(i) + field(vector_field) + " has " + std::to_string(request.vector->size()) +
                  " numbers: expected " + std::to_string(knowledge_.distance->classes.width()) +
                  ", as in the development set of the run");
    if (!knowledge_.out_of_scope.empty() && !request.scores->contains(knowledge_.out_of_scope))
      throw Error(record_place(i) + field("scores") + " has no probability of the class \"" +
                  knowledge_.out_of_scope + "\", as in the development set of the run");
    const RequestScores scores = knowledge_.scores_of(request);
    confidences.push_back(scores.answer);
    scopes.push_back(scores.scope);
    switch (band_of(scores.answer, scores.scope, knowledge_.may_answer(request), knowledge_.thresholds)) {
      case Band::answer:
        bands.emplace_back("answer");
        labels.push_back(*request.label);
        shown.push_back("answer " + *request.label + " (" + percent(scores.answer, 1) + ")");
        break;
      case Band::refuse:
        bands.emplace_back("refuse");
        labels.push_back(settings_.out_of_scope);
        shown.push_back("refuse (out of scope " + percent(scores.scope, 0) + ")");
        break;
      case Band::review:
        bands.emplace_back("review");
        labels.emplace_back();
        shown.push_back("review " + *request.label + "? (" + percent(scores.answer, 1) + ")");
        break;
    }
  }
  Records given;
  given.add("band", std::move(bands));
  given.add("label", std::move(labels));
  given.add("confidence", std::move(confidences));
  given.add("scope", std::move(scopes));
  given.add("shown", std::move(shown));
  return given;
}

}  // namespace encore::decide
