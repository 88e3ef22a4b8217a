// SPDX-License-Identifier: BSD-3-Clause
// The step "answer": its options, the passages that it asks the model about, the choice of the threshold, the
// sentence around an answer, and the measures. The worker calls it through AppStep (encore/step.hpp). A
// released default never changes, because runs are identified without values that equal their default. Exact
// match and F1 are those of the task `qa`, whose files are compiled in. Read answer.hpp first.
#include "answer.hpp"

#include <algorithm>
#include <cstdio>
#include <utility>

#include <encore/error.hpp>
#include <encore/lines.hpp>
#include <nlohmann/json.hpp>

#include "qa/measures.hpp"
#include "qa/threshold.hpp"
#include "ratio_measure.hpp"
#include "text_places.hpp"

namespace encore::answer {
namespace {

using Json = nlohmann::json;
using steps::ratio;

constexpr int knowledge_version = 1;
constexpr std::size_t pairs_at_once = 256;  // a document may be cut into several windows
constexpr const char *question_field = "question", *context_field = "context", *answers_field = "answers";

std::string percent(double share) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f %%", 100.0 * share);
  return text;
}

std::string decimal(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3f", value);
  return text;
}

/// Returns the true answers of each record: empty for a question without an answer.
std::vector<std::vector<std::string>> truths_in(const Records& records) {
  std::vector<std::vector<std::string>> truths;
  for (const std::vector<TextSpan>& spans : records.spans(answers_field)) {
    truths.emplace_back();
    for (const TextSpan& span : spans) truths.back().push_back(span.text);
  }
  return truths;
}

/// Returns exact match and F1 of an answer. "" is right if the question has no answer.
qa::AnswerScore score_of(const std::string& answer, const std::vector<std::string>& truths) {
  return qa::score_answer(answer, truths, true);
}

bool contains(const std::vector<std::string>& names, const char* name) {
  return std::ranges::find(names, name) != names.end();
}

[[noreturn]] void refuse_knowledge() {
  throw Error("the stored threshold is damaged: remove the run and run the application again");
}

bool is_space(char letter) {
  return letter == ' ' || letter == '\t' || letter == '\v' || letter == '\f';
}

bool is_line_end(char letter) {
  return letter == '\n' || letter == '\r';
}

bool closes(char letter) {
  return letter == '"' || letter == '\'' || letter == ')' || letter == ']';
}

/// Returns whether a sentence ends before this byte.
bool ends_before(std::string_view document, std::size_t byte) {
  if (byte == 0 || byte >= document.size()) return true;
  if (is_line_end(document[byte]) || is_line_end(document[byte - 1])) return true;
  if (!is_space(document[byte])) return false;
  std::size_t last = byte;
  while (last > 0 && closes(document[last - 1])) --last;
  return last > 0 && std::string_view(".!?").find(document[last - 1]) != std::string_view::npos;
}

}  // namespace

// --- options ---

Schema AnswerStep::options() {
  return Schema()
      .text("from", "", {.help = "step whose hits have the answer; \"\" is the step before"})
      .integer("passages", 5,
               {.help = "hits of each question that the model reads, the best first", .min = 1, .max = 100})
      .boolean("weigh_hits", false,
               {.help = "multiply the probability of an answer by that of its hit, model_scores of the step "
                        "before: a step rerank with a label"})
      .optional("threshold", OptionType::number,
                {.help = "a question is left to a person if its best answer is less probable; without it the "
                         "threshold with the best F1 on the development set is chosen, in which an empty "
                         "answer is right for a question without an answer",
                 .min = 0.0,
                 .max = 1.0});
}

AnswerStep::AnswerStep(const Options& options, const StepContext& context)
    : name_(context.name),
      from_(options.text("from").empty() ? context.before : options.text("from")),
      passages_(static_cast<std::size_t>(options.integer("passages"))),
      weighs_hits_(options.flag("weigh_hits")),
      model_(context.model),
      chooses_(!options.has("threshold")),
      threshold_(chooses_ ? 0.0 : options.number("threshold")),
      is_ready_(!chooses_) {
  if (from_.empty())
    throw OptionError("from", "no step stands before \"" + name_ +
                                  "\": expected a step that finds documents, such as search; put it in front "
                                  "in app.steps");
  if (model_ == nullptr) return;  // the experiment file is only checked
  const std::vector<std::string>& read = model_->fields().structure;
  if (read.size() != 2 || !contains(read, question_field) || !contains(read, context_field))
    throw OptionError("model",
                      "the model of step \"" + name_ +
                          "\" does not read a question and a context: expected a model of the task qa");
  if (const std::string problem = model_->no_scores(); !problem.empty())
    throw OptionError("model", "the model of step \"" + name_ + "\" gives no probabilities: " + problem);
}

StepFields AnswerStep::fields() const {
  StepFields fields = {.reads = {"text", from_ + ".hits", from_ + ".texts"},
                       .truth = {answers_field},
                       .gives = {"text", "document", "sentence", "confidence", band_field}};
  if (weighs_hits_) fields.reads.push_back(from_ + ".model_scores");
  return fields;
}

// --- what the data decide ---

void AnswerStep::fit(const StepSets& sets) {
  const std::vector<Found> all = find_all(sets.dev);
  const std::vector<std::vector<std::string>> truths = truths_in(sets.dev);
  if (all.empty())
    throw Error(
        "step \"" + name_ +
        "\": the development set has no question to fit on: give more data as data.dev, raise app.fit, "
        "or set threshold");
  std::vector<qa::Judged> judged;
  std::size_t answerable = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    answerable += truths[i].empty() ? 0 : 1;
    if (!all[i].is_there) continue;
    judged.push_back({.lead = -all[i].confidence,
                      .gain = score_of(all[i].text, truths[i]).f1 - score_of("", truths[i]).f1});
  }
  threshold_ = std::max(0.0, -qa::best_threshold(std::move(judged), 0.0));
  is_ready_ = true;
  double sum = 0.0;
  std::size_t answered = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    answered += may_answer(all[i]) ? 1 : 0;
    sum += score_of(may_answer(all[i]) ? all[i].text : "", truths[i]).f1;
  }
  notes_ = {"the threshold " + decimal(threshold_) + " answers " + std::to_string(answered) + " of " +
            std::to_string(all.size()) + " questions of the development set, of which " +
            std::to_string(answerable) + " have an answer: F1 " +
            decimal(sum / static_cast<double>(all.size()))};
}

std::string AnswerStep::knowledge() const {
  if (!chooses_) return {};
  return Json{{"version", knowledge_version}, {"threshold", threshold_}}.dump();
}

void AnswerStep::restore(std::string_view knowledge) {
  if (!chooses_) return AppStep::restore(knowledge);
  const Json json = Json::parse(knowledge, nullptr, false);
  if (!json.is_object()) refuse_knowledge();
  const auto threshold = json.find("threshold");
  if (threshold == json.end() || !threshold->is_number_float()) refuse_knowledge();
  threshold_ = threshold->get<double>();
  if (this->knowledge() != knowledge) refuse_knowledge();
  notes_.clear();
  is_ready_ = true;
}

// --- answers ---

double AnswerStep::weight_of(const Records& records, std::size_t record, std::size_t hit) const {
  if (!weighs_hits_) return 1.0;
  const double score = records.vectors(from_ + ".model_scores")[record].at(hit);
  if (!(score >= 0.0 && score <= 1.0))
    throw Error(
        "step \"" + name_ + "\": a hit of step \"" + from_ + "\" has the score " + decimal(score) +
        " by its model, but weigh_hits needs probabilities, in [0, 1]: expected a step rerank with a label");
  return score;
}

// The ends of a sentence are looked for from the answer outwards, so that the rest of a long document is not
// read.
std::string sentence_of(std::string_view document, std::size_t begin, std::size_t end) {
  begin = std::min(begin, document.size());
  end = std::clamp(end, begin, document.size());
  while (!ends_before(document, begin)) --begin;
  while (!ends_before(document, end)) ++end;
  return std::string(trimmed(document.substr(begin, end - begin)));
}

std::vector<AnswerStep::Found> AnswerStep::find_all(const Records& records) {
  ENCORE_REQUIRE(model_ != nullptr, "a step that answers has a model");
  const Records::Texts& questions = records.texts("text");
  const Records::TextLists &hits = records.lists(from_ + ".hits"),
                           &documents = records.lists(from_ + ".texts");
  struct Place {
    std::size_t record, hit;
  };
  std::vector<Place> places;
  for (std::size_t i = 0; i < questions.size(); ++i) {
    if (trimmed(questions[i]).empty()) continue;
    for (std::size_t hit = 0; hit < std::min({passages_, hits[i].size(), documents[i].size()}); ++hit)
      places.push_back({.record = i, .hit = hit});
  }
  std::vector<Found> all(questions.size());
  for (std::size_t first = 0; first < places.size(); first += pairs_at_once) {
    const std::span<const Place> part =
        std::span(places).subspan(first, std::min(pairs_at_once, places.size() - first));
    Records::Texts asked, contexts;
    for (const Place& place : part) {
      asked.push_back(questions[place.record]);
      contexts.push_back(documents[place.record][place.hit]);
    }
    Records pairs;
    pairs.add(question_field, std::move(asked));
    pairs.add(context_field, std::move(contexts));
    const Records answers = model_->answer(pairs);
    const Records::SpanLists& spans = answers.spans(answers_field);
    for (std::size_t i = 0; i < part.size(); ++i) {
      if (spans[i].empty()) continue;
      const TextSpan& span = spans[i].front();
      Found& best = all[part[i].record];
      const double confidence = span.score.value_or(0.0) * weight_of(records, part[i].record, part[i].hit);
      if (best.is_there && confidence <= best.confidence) continue;  // of equal ones the better hit
      const std::string& document = documents[part[i].record][part[i].hit];
      best = {.text = span.text,
              .document = hits[part[i].record][part[i].hit],
              .sentence = sentence_of(document, byte_of_code_point(document, span.start).value_or(0),
                                      byte_of_code_point(document, span.end).value_or(document.size())),
              .confidence = confidence,
              .is_there = true};
    }
  }
  return all;
}

Records AnswerStep::apply(const Records& records) {
  ENCORE_REQUIRE(is_ready_, "fit() or restore() comes before apply()");
  Records::Texts answers, documents, sentences, bands, shown;
  Records::Numbers confidences;
  for (Found& found : find_all(records)) {
    const bool is_answered = may_answer(found);
    confidences.push_back(found.confidence);
    bands.emplace_back(is_answered ? "answer" : "review");
    shown.push_back(is_answered      ? found.text + " (" + percent(found.confidence) + ")  " + found.document
                    : found.is_there ? "no answer (" + percent(found.confidence) + ")"
                                     : "no answer");
    answers.push_back(is_answered ? std::move(found.text) : "");
    documents.push_back(is_answered ? std::move(found.document) : "");
    sentences.push_back(is_answered ? std::move(found.sentence) : "");
  }
  Records given;
  given.add("text", std::move(answers));
  given.add("document", std::move(documents));
  given.add("sentence", std::move(sentences));
  given.add("confidence", std::move(confidences));
  given.add(band_field, std::move(bands));
  given.add("shown", std::move(shown));
  return given;
}

// --- measures ---

std::vector<Measure> AnswerStep::measures() {
  return {
      ratio("exact_match", "exact match",
            "share of the questions whose answer equals a true one, apart from case, punctuation and "
            "articles; an empty answer is right for a question without an answer",
            Better::higher, "exact_match", "questions"),
      ratio("f1", "F1",
            "F1 of the words of the answer, compared with the true answer that gives the highest F1; mean "
            "over questions",
            Better::higher, "f1", "questions"),
      ratio("answered", "Answered", "share of the questions that are answered automatically", Better::neither,
            "answered", "questions"),
      ratio("exact_match_answered", "exact match of answers",
            "share of the automatic answers that equal a true one", Better::higher, "exact_answers",
            "answered", false),
      ratio("refused_unanswerable", "Unanswerable, refused",
            "share of the questions without an answer that are not answered", Better::higher,
            "refused_unanswerable", "unanswerable", false)};
}

void AnswerStep::measure(const Records& records, const Records& given, Statistics& statistics) const {
  const std::vector<std::vector<std::string>> truths = truths_in(records);
  const Records::Texts &answers = given.texts("text"), &bands = given.texts(band_field);
  for (std::size_t i = 0; i < answers.size(); ++i) {
    statistics.begin_example();
    const bool is_answered = bands[i] == "answer", is_unanswerable = truths[i].empty();
    const qa::AnswerScore score = score_of(answers[i], truths[i]);
    statistics.add("questions", 1.0);
    statistics.add("exact_match", score.exact);
    statistics.add("f1", score.f1);
    statistics.add("answered", is_answered ? 1.0 : 0.0);
    if (is_answered) statistics.add("exact_answers", score.exact);
    if (!is_unanswerable) continue;
    statistics.add("unanswerable", 1.0);
    statistics.add("refused_unanswerable", is_answered ? 0.0 : 1.0);
  }
}

}  // namespace encore::answer
