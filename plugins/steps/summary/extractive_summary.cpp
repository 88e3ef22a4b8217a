// SPDX-License-Identifier: BSD-3-Clause
// The steps "extractive_summary" and "baseline_summary": their options, what they learn, and answers. The
// worker calls them through AppStep (encore/step.hpp). A released default never changes, because runs are
// identified without values that equal their default. Read extractive_summary.hpp first.
#include "extractive_summary.hpp"

#include <algorithm>
#include <cstdio>
#include <map>
#include <utility>

#include <encore/error.hpp>
#include <nlohmann/json.hpp>

#include "ranker_choice.hpp"
#include "text_places.hpp"

namespace encore::summary {
namespace {

using Json = nlohmann::ordered_json;

constexpr int knowledge_version = 1;
constexpr std::size_t inputs_at_once = 1024;

[[noreturn]] void refuse_knowledge() {
  throw Error("the stored method of a summary is damaged: remove the run and run the application again");
}

/// Returns the place of each part in the text, in code points. A part that does not stand in the text behind
/// the parts before it, such as a document that a search has found, has the places 0.
std::vector<TextSpan> places_of(std::string_view text, const std::vector<std::string>& parts) {
  std::vector<TextSpan> places;
  std::size_t byte = 0;
  std::int64_t point = 0;  // of `byte`
  for (const std::string& part : parts) {
    places.push_back({.label = {}, .text = part});
    const std::size_t found = text.find(part, byte);
    if (found == std::string_view::npos) continue;
    point += code_points_before(text.substr(byte), found - byte);
    places.back().start = point;
    point += code_points_before(part, part.size());
    places.back().end = point;
    byte = found + part.size();
  }
  return places;
}

/// Returns the method that the user set; empty: fit() chooses it.
std::optional<Method> method_of(const Options& options) {
  return method_named(options.text("method"));
}

}  // namespace

// --- options ---

Schema PickingStep::picking_options() {
  return common_options()
      .integer("sentences", 3, {.help = "most sentences (or lines) of a summary", .min = 1, .max = 1000})
      .integer("words", 0,
               {.help = "most words of a summary; a sentence that does not fit is passed over, but one "
                        "sentence is always taken; 0: no limit",
                .min = 0,
                .max = 100000});
}

PickingStep::PickingStep(const Options& options, const StepContext& context)
    : SummaryStep(options, context, {"sentences", "scores"}),
      limits_({.parts = static_cast<std::size_t>(options.integer("sentences")),
               .words = static_cast<std::size_t>(options.integer("words"))}) {}

Schema ExtractiveSummary::options() {
  return picking_options()
      .choice(
          "method", "auto", {"auto", "lead", "longest", "centroid", "mmr", "learned"},
          {.help = "how sentences are scored. auto: choose by ROUGE-L on the development set, whose records "
                   "then have true summaries, and leave lead or longest only for a method that is better "
                   "beyond chance; lead: the first sentences; longest: those with the most words; centroid: "
                   "those nearest to the mean vector of all sentences; mmr: the same, with position and "
                   "diversity; learned: by a regression on place, length and centroid, fitted on the "
                   "development set"})
      .number("position", 0.0,
              {.help = "weight of the place in the text if method is mmr, in which the first sentence has 1 "
                       "and the last one 0; the cosine with the mean vector has the rest",
               .min = 0.0,
               .max = 1.0})
      .number("diversity", 0.0,
              {.help = "weight of the likeness to sentences that were taken before if method is mmr, which "
                       "lowers the score of a sentence",
               .min = 0.0,
               .max = 1.0});
}

ExtractiveSummary::ExtractiveSummary(const Options& options, const StepContext& context)
    : PickingStep(options, context), model_(context.model), method_(method_of(options)), seed_(context.seed) {
  for (const char* option : {"position", "diversity"})
    if (options.number(option) > 0.0 && method_ != Method::mmr)
      throw OptionError(option, std::string(option) + " is for method = \"mmr\", but method is \"" +
                                    options.text("method") + "\": remove one of the two");
  ranker_ = {.method = method_.value_or(Method::lead),
             .position = options.number("position"),
             .diversity = options.number("diversity")};
  is_ready_ = !is_fitted();
  if (model_ == nullptr) return;  // the experiment file is only checked
  if (const std::string problem = model_->no_vectors(); !problem.empty())
    throw OptionError("model", "the model of step \"" + context.name + "\" gives no vectors: " + problem +
                                   "; take a model that has them, or a step of the type baseline_summary");
}

Schema BaselineSummary::options() {
  return picking_options().choice("method", "lead", {"lead", "longest"},
                                  {.help = "lead: the first sentences; longest: those with the most words"});
}

BaselineSummary::BaselineSummary(const Options& options, const StepContext& context)
    : PickingStep(options, context) {
  ranker_.method = *method_of(options);
}

// --- documents ---

std::vector<Document> BaselineSummary::documents_in(const Records& records) {
  std::vector<Document> documents;
  for (const std::vector<std::string>& parts : parts_of(records)) documents.push_back(make_document(parts));
  return documents;
}

std::vector<Document> ExtractiveSummary::documents_in(const Records& records) {
  const Records::TextLists& parts = parts_of(records);
  std::vector<Document> documents;
  if (is_ready_ && !uses_vectors(ranker_.method)) {
    for (const std::vector<std::string>& of_text : parts) documents.push_back(make_document(of_text));
    return documents;
  }
  Records::Texts inputs;
  for (const std::vector<std::string>& of_text : parts)
    inputs.insert(inputs.end(), of_text.begin(), of_text.end());
  Records::NumberLists vectors;
  for (std::size_t first = 0; first < inputs.size(); first += inputs_at_once) {
    const Records::Texts some(
        inputs.begin() + static_cast<std::ptrdiff_t>(first),
        inputs.begin() + static_cast<std::ptrdiff_t>(std::min(inputs.size(), first + inputs_at_once)));
    for (std::vector<double>& vector : model_->vectors(some)) vectors.push_back(std::move(vector));
  }
  std::size_t next = 0;
  for (const std::vector<std::string>& of_text : parts) {
    Records::NumberLists own;
    for (std::size_t i = 0; i < of_text.size(); ++i) own.push_back(std::move(vectors[next++]));
    documents.push_back(make_document(of_text, std::move(own)));
  }
  return documents;
}

// --- what the data decide ---

void ExtractiveSummary::fit(const StepSets& sets) {
  is_ready_ = false;  // documents have vectors until the method is known
  std::vector<Document> documents = documents_in(sets.dev);
  Records::TextLists references = references_in(sets.dev);
  std::vector<JudgedDocument> judged;
  for (std::size_t i = 0; i < documents.size(); ++i)
    if (!references[i].empty() && !documents[i].parts.empty())
      judged.push_back({.document = std::move(documents[i]), .references = std::move(references[i])});
  if (judged.empty())
    throw Error("step \"" + name() +
                "\": no text of the development set has a true summary, so no method can be chosen or "
                "learned: give some in the field \"answers\" (data.answers_key), or set method");
  if (method_) {
    ranker_.weights = fit_weights(judged);
    notes_ = {"the weights of the features are learned from " + std::to_string(judged.size()) + " documents"};
  } else {
    RankerChoice choice = choose_ranker(judged, limits(), seed_);
    ranker_ = std::move(choice.ranker);
    notes_ = std::move(choice.notes);
  }
  is_ready_ = true;
}

std::string ExtractiveSummary::knowledge() const {
  if (!is_fitted()) return {};
  return Json{{"version", knowledge_version},
              {"method", name_of(ranker_.method)},
              {"position", ranker_.position},
              {"diversity", ranker_.diversity},
              {"weights", ranker_.weights}}
      .dump();
}

void ExtractiveSummary::restore(std::string_view knowledge) {
  if (!is_fitted()) return AppStep::restore(knowledge);
  const Json json = Json::parse(knowledge, nullptr, false);
  if (!json.is_object()) refuse_knowledge();
  try {
    const std::optional<Method> method = method_named(json.at("method").get<std::string>());
    if (!method || (method_ && method != method_)) refuse_knowledge();
    ranker_ = {.method = *method,
               .position = json.at("position").get<double>(),
               .diversity = json.at("diversity").get<double>(),
               .weights = json.at("weights").get<std::vector<double>>()};
  } catch (const Json::exception&) {
    refuse_knowledge();
  }
  if (ranker_.weights.size() != (ranker_.method == Method::learned ? feature_count + 1 : 0) ||
      this->knowledge() != knowledge)
    refuse_knowledge();
  notes_.clear();
  is_ready_ = true;
}

// --- answers ---

Records PickingStep::apply(const Records& records) {
  ENCORE_REQUIRE(is_ready_, "fit() or restore() comes before apply()");
  const std::vector<Document> documents = documents_in(records);
  Records::Texts summaries;
  Records::SpanLists sentences;
  Records::NumberLists kept_scores;
  for (std::size_t i = 0; i < documents.size(); ++i) {
    const std::vector<double> scores = scores_of(documents[i], ranker_);
    const std::vector<std::size_t> picked = pick(documents[i], scores, ranker_, limits_);
    summaries.push_back(text_of(documents[i], picked));
    const std::vector<TextSpan> places = places_of(records.texts("text")[i], parts_of(records)[i]);
    sentences.emplace_back();
    kept_scores.emplace_back();
    for (const std::size_t part : picked) {
      sentences.back().push_back(places[documents[i].parts[part].number]);
      kept_scores.back().push_back(scores[part]);
    }
  }
  Records given = answer_with(records, std::move(summaries));
  given.add("sentences", std::move(sentences));
  given.add("scores", std::move(kept_scores));
  return given;
}

}  // namespace encore::summary
