// SPDX-License-Identifier: BSD-3-Clause
// The step "extract": its options, the spans that it reads, the choice of the threshold, and its answers;
// measures.cpp counts. The worker calls it through AppStep (encore/step.hpp). A released default never
// changes, because runs are identified without values that equal their default. Read extract.hpp first.
#include "extract.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <set>
#include <utility>

#include <encore/error.hpp>
#include <nlohmann/json.hpp>

#include "decide/thresholds.hpp"

namespace encore::extract {
namespace {

using Json = nlohmann::json;

constexpr int knowledge_version = 1;
constexpr std::uint64_t parts = 3;     // one of them calibrates, the others bound the error
constexpr std::size_t most_shown = 2;  // failed checks in the line for people
constexpr const char *words_field = "words", *tags_field = "tags", *label_field = "label";

std::string percent(double share) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3g %%", 100.0 * share);
  return text;
}

std::string whole(double count) {
  return std::to_string(static_cast<long long>(count));
}

/// Returns whether a document belongs to the calibration part: a third of all by a hash of the words (FNV-1a,
/// mixed as in SplitMix64), so that equal documents are in the same part.
bool calibrates(const std::vector<std::string>& words) {
  std::uint64_t state = 0xCBF29CE484222325ULL;
  const auto add = [&](unsigned char byte) { state = (state ^ byte) * 0x100000001B3ULL; };
  for (const std::string& word : words) {
    for (const char letter : word) add(static_cast<unsigned char>(letter));
    add(0xFF);  // a byte that UTF-8 does not have ends the word
  }
  state = (state ^ state >> 30) * 0xBF58476D1CE4E5B9ULL;
  state = (state ^ state >> 27) * 0x94D049BB133111EBULL;
  return (state ^ state >> 31) % parts == 0;
}

OptionRule share_between(std::string help) {
  return {.help = std::move(help), .min = 0.0, .max = 1.0, .exclusive_min = true, .exclusive_max = true};
}

[[noreturn]] void refuse_knowledge() {
  throw Error("the stored threshold is damaged: remove the run and run the application again");
}

double probability_of(const TextSpan& span) {
  return span.least_score.value_or(span.score.value_or(1.0));
}

/// Adds a span of another step. Of spans with one label that overlap, only the most probable stays; of
/// equally probable ones the earlier step's.
void add_span(const TextSpan& span, std::vector<TextSpan>& spans) {
  const auto overlaps = [&](const TextSpan& other) {
    return other.label == span.label && other.start < span.end && span.start < other.end;
  };
  const auto is_better = [&](const TextSpan& other) { return probability_of(other) >= probability_of(span); };
  for (const TextSpan& other : spans)
    if (overlaps(other) && is_better(other)) return;
  std::erase_if(spans, overlaps);
  spans.push_back(span);
}

std::string shown_line(const Document& document, const std::vector<Failure>& failures,
                       const std::string& band) {
  std::string line;
  for (const Field& field : document.fields)
    if (field.found) line += (line.empty() ? "" : ", ") + field.rule.name + " " + field.found->value.text;
  char confidence[32];
  std::snprintf(confidence, sizeof confidence, " (%.1f %%)", 100.0 * document.confidence());
  std::string type = document.type ? document.type->name + ": " : "";
  if (document.type && document.type->name.empty()) type = "no type: ";
  line = band + " " + type + (line.empty() ? "no field" : line) + confidence;
  for (std::size_t i = 0; i < std::min(most_shown, failures.size()); ++i)
    line += "; " + failures[i].check + ": " + failures[i].reason;
  if (failures.size() > most_shown)
    line += "; and " + std::to_string(failures.size() - most_shown) + " more failed checks";
  for (char& letter : line)
    if (letter == '\n' || letter == '\r') letter = ' ';
  return line;
}

/// Returns the value of a field; "" if the document does not have it.
std::string value_of(const Document& document, const std::string& name) {
  const auto field =
      std::ranges::find(document.fields, name, [](const Field& each) { return each.rule.name; });
  return field == document.fields.end() || !field->found ? "" : field->found->value.text;
}

}  // namespace

// --- options ---

Schema Extract::options() {
  Schema schema;
  schema.text("from", "", {.help = "step whose labels are read; \"\": the step before"})
      .choice(
          "labels", "entities", {"entities", "tags"},
          {.help =
               "what that step gives. entities: the spans of a model of the task ner; tags: a label for each "
               "word, of a model of the task tag"});
  schema.text_list(
      "also_from", {},
      {.help = "other steps whose entities count too, such as [\"match\"] for a step of regular "
               "expressions. Of spans with one label that overlap, the most probable counts; a span "
               "without a probability is certain"});
  add_rule_options(schema);
  add_type_options(schema);
  schema
      .optional("error", OptionType::number,
                share_between(
                    "promise: at most this share of the approved documents has a wrong, missing or needless "
                    "value; the development set chooses the threshold; excludes threshold"))
      .number("confidence", 0.95, share_between("probability with which the promise holds"))
      .optional(
          "threshold", OptionType::number,
          {.help =
               "a document is left to a person if its least probable value is less probable; without it and "
               "without error each document is approved whose checks hold",
           .min = 0.0,
           .max = 1.0});
  return schema;
}

Extract::Extract(const Options& options, const StepContext& context)
    : name_(context.name),
      from_(options.text("from").empty() ? context.before : options.text("from")),
      also_from_(options.text_list("also_from")),
      reads_tags_(options.text("labels") == "tags"),
      type_from_(options.text("type_from")),
      type_confidence_(options.text("type_confidence")),
      rules_(typed_rules_in(options)),
      error_(options.has("error") ? std::optional(options.number("error")) : std::nullopt),
      level_(options.number("confidence")),
      threshold_(options.has("threshold") ? options.number("threshold") : 0.0),
      is_ready_(!error_) {
  if (from_.empty())
    throw OptionError("from",
                      "no step stands before \"" + name_ +
                          "\": expected a step that labels words, such as predict with a model of the task "
                          "ner; put it in front in app.steps");
  if (error_ && options.has("threshold"))
    throw OptionError(
        "threshold", "threshold and error exclude each other: error chooses a threshold; remove one of them");
}

StepFields Extract::fields() const {
  StepFields fields{.reads = {}, .truth = {}, .gives = {"json", "confidence", band_field}};
  (reads_tags_ ? fields.reads : fields.truth).emplace_back(words_field);
  fields.truth.emplace_back(tags_field);
  fields.reads.push_back(from_ + ".text");
  if (reads_tags_) {
    fields.reads.push_back(from_ + ".tags");
    fields.reads.push_back(from_ + ".score");
  } else {
    fields.reads.push_back(from_ + ".entities");
  }
  for (const std::string& step : also_from_)
    for (const char* field : {".text", ".entities"}) fields.reads.push_back(step + field);
  for (const std::string& field : {type_from_, type_confidence_})
    if (!field.empty()) fields.reads.push_back(field);
  if (has_true_types()) fields.truth.emplace_back(label_field);
  for (const FieldRule& field : rules_.all.fields) fields.gives.push_back(field.name);
  return fields;
}

// --- records to documents ---

Records::SpanLists Extract::spans_in(const Records& records) const {
  Records::SpanLists spans = spans_of_model(records);
  for (const std::string& step : also_from_) {
    const Records::Texts &texts = records.texts(from_ + ".text"), &others = records.texts(step + ".text");
    const Records::SpanLists& more = records.spans(step + ".entities");
    for (std::size_t i = 0; i < spans.size(); ++i) {
      if (texts[i] != others[i])
        throw Error("step \"" + name_ + "\": the steps \"" + from_ + "\" and \"" + step +
                    "\" read different text, so the places of their spans do not fit together: expected one "
                    "text, such as the field " +
                    from_ + ".text for both");
      for (const TextSpan& span : more[i]) add_span(span, spans[i]);
    }
  }
  return spans;
}

Records::SpanLists Extract::spans_of_model(const Records& records) const {
  try {
    if (!reads_tags_) return records.spans(from_ + ".entities");
    const Records::TextLists &words = records.lists(words_field), &tags = records.lists(from_ + ".tags");
    const Records::NumberLists& scores = records.vectors(from_ + ".score");
    const Records::Texts& texts = records.texts(from_ + ".text");
    Records::SpanLists spans;
    for (std::size_t i = 0; i < words.size(); ++i)
      spans.push_back(spans_of(words[i], tags[i], scores[i], texts[i]));
    return spans;
  } catch (const Error& error) {
    throw Error("step \"" + name_ + "\" cannot read the labels of step \"" + from_ + "\": " + error.what() +
                "; expected " +
                (reads_tags_
                     ? "a model of the task tag (for a model of the task ner set labels = \"entities\")"
                     : "a model of the task ner (for a model of the task tag set labels = \"tags\")"));
  }
}

std::vector<std::optional<DocumentType>> Extract::types_in(const Records& records) const {
  std::vector<std::optional<DocumentType>> types(records.size());
  if (!rules_.has_types()) return types;
  const Records::Texts& names = records.texts(type_from_);
  const Records::Numbers confidences =
      type_confidence_.empty() ? Records::Numbers(records.size(), 1.0) : records.numbers(type_confidence_);
  for (std::size_t i = 0; i < types.size(); ++i)
    types[i] = {.name = names[i], .confidence = std::clamp(confidences[i], 0.0, 1.0)};
  return types;
}

std::vector<Document> Extract::documents_in(const Records& records) const {
  const Records::SpanLists spans = spans_in(records);
  const std::vector<std::optional<DocumentType>> types = types_in(records);
  std::vector<Document> documents;
  for (std::size_t i = 0; i < spans.size(); ++i)
    documents.push_back(document_of(spans[i], rules_.of(types[i]), types[i]));
  return documents;
}

std::vector<Document> Extract::truths_in(const Records& records) const {
  const Records::TextLists &words = records.lists(words_field), &tags = records.lists(tags_field);
  std::vector<std::optional<DocumentType>> types = types_in(records);
  std::vector<Document> truths;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (has_true_types()) types[i] = {.name = records.texts(label_field)[i]};
    truths.push_back(document_of(spans_of(words[i], tags[i], {}, ""), rules_.of(types[i]), types[i]));
  }
  return truths;
}

// --- what the data decide ---

void Extract::fit(const StepSets& sets) {
  ENCORE_REQUIRE(error_, "a step with a promise is fitted");
  const std::vector<Document> documents = documents_in(sets.dev);
  if (documents.empty())
    throw Error("step \"" + name_ +
                "\": the development set has no document to fit on: give more data as data.dev, raise "
                "app.fit, or set threshold instead of error");
  const std::vector<Document> truths = truths_in(sets.dev);
  const Records::TextLists& words = sets.dev.lists(words_field);
  std::vector<decide::Outcome> calibration, bound;
  for (std::size_t i = 0; i < documents.size(); ++i)
    (calibrates(words[i]) ? calibration : bound)
        .push_back({.answer = documents[i].confidence(),
                    .may_answer = failures_of(documents[i], rules_of(documents[i])).empty(),
                    .is_right = is_right(documents[i], truths[i])});
  const decide::Promise promise{.most = *error_, .confidence = level_};
  const decide::Tested tested = decide::test_answers({.calibration = calibration, .bound = bound}, promise);
  threshold_ = tested.threshold;
  is_ready_ = true;
  const std::string with = " with " + percent(level_) + " confidence", promised = percent(*error_);
  if (threshold_)
    notes_ = {"approves " + whole(tested.taken) + " of " + std::to_string(bound.size()) +
              " documents from the confidence " + percent(*threshold_) + " on, " + whole(tested.errors) +
              " of them wrongly: an error of at most " + percent(tested.bound) + with +
              " (promised: " + promised + ")"};
  else
    notes_ = {"the development set is too small, or the model too often wrong, to promise an error of " +
              promised + with + ": " + std::to_string(bound.size()) + " documents, upper end " +
              percent(tested.bound) + " at the most promising threshold; at least " +
              whole(decide::fewest_for(promise)) +
              " documents without a mistake are needed. The step approves no document; state a larger error, "
              "or fit it on more documents "
              "or with a better model"};
  note_labels(sets.dev);
}

void Extract::note_labels(const Records& dev) {
  if (rules_.all.takes_all_labels) return;
  const Records::TextLists &words = dev.lists(words_field), &tags = dev.lists(tags_field);
  std::set<std::string> unread, unseen;
  for (const std::string& label : rules_.all.labels()) unseen.insert(label);
  const std::set<std::string> read = unseen;
  for (std::size_t i = 0; i < words.size(); ++i)
    for (const TextSpan& span : spans_of(words[i], tags[i], {}, "")) {
      unseen.erase(span.label);
      if (!read.contains(span.label)) unread.insert(span.label);
    }
  for (const std::string& label : unseen)
    notes_.push_back("no document of the development set has the label \"" + label +
                     "\": what the step says about this field is not measured");
  for (const std::string& label : unread)
    notes_.push_back("the label \"" + label +
                     "\" of the development set is not read: add it to fields or groups if it is a field");
}

std::string Extract::knowledge() const {
  if (!error_) return {};
  return Json{{"version", knowledge_version}, {"threshold", threshold_ ? Json(*threshold_) : Json(nullptr)}}
      .dump();
}

void Extract::restore(std::string_view knowledge) {
  if (!error_) return AppStep::restore(knowledge);
  const Json json = Json::parse(knowledge, nullptr, false);
  if (!json.is_object()) refuse_knowledge();
  const auto threshold = json.find("threshold");
  if (threshold == json.end() || (!threshold->is_number_float() && !threshold->is_null())) refuse_knowledge();
  threshold_ = threshold->is_null() ? std::nullopt : std::optional(threshold->get<double>());
  if (this->knowledge() != knowledge) refuse_knowledge();
  notes_.clear();
  is_ready_ = true;
}

// --- answers ---

Records Extract::apply(const Records& records) {
  ENCORE_REQUIRE(is_ready_, "fit() or restore() comes before apply()");
  Records::Texts jsons, bands, shown;
  Records::Numbers confidences;
  std::vector<Records::Texts> values(rules_.all.fields.size());
  for (const Document& document : documents_in(records)) {
    const Rules& rules = rules_of(document);
    const std::vector<Failure> failures = failures_of(document, rules);
    bands.emplace_back(may_approve(document, failures) ? "answer" : "review");
    confidences.push_back(document.confidence());
    jsons.push_back(json_of(document, rules, failures, bands.back()));
    shown.push_back(shown_line(document, failures, bands.back()));
    for (std::size_t i = 0; i < values.size(); ++i)
      values[i].push_back(value_of(document, rules_.all.fields[i].name));
  }
  Records given;
  given.add("json", std::move(jsons));
  given.add("confidence", std::move(confidences));
  given.add(band_field, std::move(bands));
  for (std::size_t i = 0; i < values.size(); ++i) given.add(rules_.all.fields[i].name, std::move(values[i]));
  given.add("shown", std::move(shown));
  return given;
}

}  // namespace encore::extract
