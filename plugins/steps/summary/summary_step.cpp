// SPDX-License-Identifier: BSD-3-Clause
// The common part of the steps of summaries: options, fields, measures and the text of a rating. Read
// summary_step.hpp first.
#include "summary_step.hpp"

#include <algorithm>
#include <utility>

#include <encore/error.hpp>

#include "ngrams/text_scores.hpp"
#include "text_parts.hpp"

namespace encore::summary {
namespace {

/// The field with the text of an item of a review queue (serve/review_items.cpp).
constexpr const char* item_field = "item";
constexpr const char* summary_title = "Summary: ";

std::string in_one_line(std::string text) {
  for (char& letter : text)
    if (static_cast<unsigned char>(letter) < ' ') letter = ' ';
  return text;
}

}  // namespace

Schema SummaryStep::common_options() {
  return Schema()
      .text("from", "",
            {.help = "step that cuts the text into parts, such as split; \"\" is the step "
                     "before"})
      .boolean("rated", false,
               {.help = "leave every request to people, who rate its summary: the band is `review`, and an "
                        "item of the review queue has text and summary"});
}

SummaryStep::SummaryStep(const Options& options, const StepContext& context, std::vector<std::string> gives)
    : name_(context.name),
      from_(options.text("from").empty() ? context.before : options.text("from")),
      is_rated_(options.flag("rated")),
      gives_(std::move(gives)) {
  if (from_.empty())
    throw OptionError("from", "no step stands before \"" + name_ +
                                  "\": expected a step that cuts a text into parts, such as split; put it in "
                                  "front in app.steps");
}

StepFields SummaryStep::fields() const {
  StepFields fields = {.reads = {"text", from_ + ".texts"}, .truth = {references_field}, .gives = {"text"}};
  fields.gives.insert(fields.gives.end(), gives_.begin(), gives_.end());
  if (is_rated_) fields.gives.insert(fields.gives.end(), {item_field, band_field});
  return fields;
}

Records::TextLists SummaryStep::references_in(const Records& records) {
  Records::TextLists references;
  for (const std::vector<TextSpan>& spans : records.spans(references_field)) {
    references.emplace_back();
    for (const TextSpan& span : spans) references.back().push_back(span.text);
  }
  return references;
}

Records SummaryStep::answer_with(const Records& records, Records::Texts summaries) const {
  Records::Texts shown, items;
  for (std::size_t i = 0; i < summaries.size(); ++i) {
    shown.push_back(in_one_line(summaries[i]));
    if (is_rated_) items.push_back(records.texts("text")[i] + "\n\n" + summary_title + summaries[i]);
  }
  Records given;
  if (is_rated_) {
    given.add(band_field, Records::Texts(summaries.size(), "review"));
    given.add(item_field, std::move(items));
  }
  given.add("text", std::move(summaries));
  given.add("shown", std::move(shown));
  return given;
}

std::vector<Measure> SummaryStep::measures() {
  std::vector<Measure> measures = ngrams::rouge_measures(
      "",
      "compared with the true summary that gives the highest F1; mean over documents, as "
      "rouge-score computes it without its stemmer",
      "documents", true);
  measures.push_back({.name = "words",
                      .title = "Words",
                      .help = "mean number of words of a summary",
                      .unit = "words",
                      .better = Better::neither,
                      .reducer = Reducer::ratio,
                      .columns = {"words", "documents"}});
  return measures;
}

void SummaryStep::measure(const Records& records, const Records& given, Statistics& statistics) const {
  const Records::TextLists references = references_in(records);
  const Records::Texts& summaries = given.texts("text");
  for (std::size_t i = 0; i < summaries.size(); ++i) {
    statistics.begin_example();
    if (references[i].empty()) continue;
    const ngrams::SummaryScores scores = ngrams::score_summary(summaries[i], references[i]);
    statistics.add("documents", 1.0);
    statistics.add("rouge_1", scores.rouge_1);
    statistics.add("rouge_2", scores.rouge_2);
    statistics.add("rouge_l", scores.rouge_l);
    statistics.add("words", static_cast<double>(count_words(summaries[i])));
  }
}

}  // namespace encore::summary
