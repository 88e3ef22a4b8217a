// SPDX-License-Identifier: BSD-3-Clause
// The step "match": passes each text to all expressions and returns what they find, in the order of the text.
// The worker calls it through AppStep (encore/step.hpp). The step has no measures of its own: those of a step
// `extract` behind it count what is right. Read match.hpp first.
#include "match.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace encore::match {
namespace {

std::string shown_line(const std::vector<TextSpan>& spans) {
  std::string line;
  for (const TextSpan& span : spans) line += (line.empty() ? "" : ", ") + span.label + " " + span.text;
  for (char& letter : line)
    if (letter == '\n' || letter == '\r') letter = ' ';
  return line.empty() ? "no match" : line;
}

}  // namespace

Schema Match::options() {
  return Schema()
      .required(
          "expressions", OptionType::text_list,
          {.help =
               "regular expressions in the notation of RE2, such as ['\\bdate : (?P<date>[0-9/]+)']. Each "
               "group with a name gives a span with this label; two underlines in a name stand for a "
               "point, so item__amount gives item.amount"})
      .text("field", "text", {.help = "field with the text: of the data, or of an earlier step"});
}

Match::Match(const Options& options, const StepContext&) : field_(options.text("field")) {
  for (const std::string& pattern : options.text_list("expressions")) expressions_.emplace_back(pattern);
  if (expressions_.empty())
    throw OptionError("expressions", "expressions is empty: expected at least one regular expression");
}

StepFields Match::fields() const {
  return {.reads = {field_}, .truth = {}, .gives = {"text", "entities", "label"}};
}

Records Match::apply(const Records& records) {
  const Records::Texts& texts = records.texts(field_);
  Records::SpanLists entities;
  Records::Texts labels, shown;
  for (const std::string& text : texts) {
    std::vector<TextSpan> spans;
    for (const Expression& expression : expressions_) expression.find_in(text, spans);
    labels.push_back(spans.empty() ? "" : spans.front().label);
    std::ranges::stable_sort(spans, {}, &TextSpan::start);
    shown.push_back(shown_line(spans));
    entities.push_back(std::move(spans));
  }
  Records given;
  given.add("text", texts);
  given.add("entities", std::move(entities));
  given.add("label", std::move(labels));
  given.add("shown", std::move(shown));
  return given;
}

}  // namespace encore::match
