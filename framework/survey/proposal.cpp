// SPDX-License-Identifier: BSD-3-Clause
// The rules of choose_text() and choose_label(), with the names that columns of text and label usually have.
// survey.cpp calls them. Rules and names may change. Read survey.hpp first.
#include "survey/survey.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>

#include "base/readable_text.hpp"

namespace encore::survey {
namespace {

using Columns = std::vector<record::SurveyedColumn>;

constexpr double most_other = 0.1;                  ///< share of numbers, dates or lists in a column of text
constexpr double words_of_text = 1.5;               ///< mean, at least
constexpr double characters_without_blanks = 12.0;  ///< mean of a text in a language without blanks
constexpr double longer = 2.0;                      ///< a text is this many times as long as other columns
constexpr double longest_label = 60.0;              ///< mean, in characters
constexpr double records_of_class = 3.0;            ///< mean, at least

/// Returns whether the last part of a key ("body" of "fields.body") is one of the names.
template <std::size_t N>
bool has_name(const record::SurveyedColumn& column, const std::array<std::string_view, N>& names) {
  std::string last = column.name.substr(column.name.rfind('.') + 1);
  std::ranges::transform(last, last.begin(), [](unsigned char letter) { return std::tolower(letter); });
  return std::ranges::find(names, last) != names.end();
}

bool has_text_name(const record::SurveyedColumn& column) {
  constexpr std::array<std::string_view, 15> names = {
      "text",     "body",    "message", "content",  "sentence", "comment", "utterance",  "review",
      "question", "request", "tweet",   "document", "input",    "query",   "description"};
  return has_name(column, names);
}

bool has_label_name(const record::SurveyedColumn& column) {
  constexpr std::array<std::string_view, 16> names = {
      "label",      "class", "category",   "intent",   "target",     "sentiment", "topic", "kind",
      "gold_label", "tag",   "department", "polarity", "label_text", "emotion",   "team",  "queue"};
  return has_name(column, names);
}

bool may_be_text(const record::SurveyedColumn& column) {
  if (column.filled == 0 || column.numbers + column.dates + column.others > most_other) return false;
  const bool has_words = column.words >= words_of_text || column.characters >= characters_without_blanks;
  const bool differs = !column.values || 2 * *column.values >= column.filled;
  return has_words && differs && (column.words >= words_of_text || has_text_name(column));
}

bool may_be_label(const record::SurveyedColumn& column) {
  if (!column.values || *column.values < 2 || column.dates + column.others > most_other) return false;
  return column.characters <= longest_label &&
         static_cast<double>(column.filled) >= records_of_class * static_cast<double>(*column.values);
}

std::string facts_of_text(const record::SurveyedColumn& column) {
  return fixed_text(column.characters, 0) + " characters in " + fixed_text(column.words, 1) +
         " words on average";
}

std::string facts_of_label(const record::SurveyedColumn& column) {
  return thousands(column.values.value_or(0)) + " values, the rarest in " +
         counted(static_cast<std::size_t>(column.rarest), "record");
}

std::vector<std::string> names_of(const std::vector<const record::SurveyedColumn*>& columns) {
  std::vector<std::string> names;
  for (const record::SurveyedColumn* column : columns) names.push_back(column->name);
  return names;
}

template <class Test>
std::vector<const record::SurveyedColumn*> those(const Columns& columns, const Test& test) {
  std::vector<const record::SurveyedColumn*> found;
  for (const record::SurveyedColumn& column : columns)
    if (test(column)) found.push_back(&column);
  return found;
}

}  // namespace

record::ChosenColumn choose_text(const Columns& columns) {
  const auto found = those(columns, may_be_text);
  if (found.size() == 1)
    return {found[0]->name, facts_of_text(*found[0]) + "; the only column of text", names_of(found)};
  const auto named =
      those(columns, [](const auto& column) { return may_be_text(column) && has_text_name(column); });
  if (named.size() == 1)
    return {named[0]->name, facts_of_text(*named[0]) + "; a usual name", names_of(found)};
  const auto longest = std::ranges::max_element(found, {}, &record::SurveyedColumn::characters);
  const bool is_alone = longest != found.end() && std::ranges::all_of(found, [&](const auto* other) {
                          return other == *longest || longer * other->characters <= (*longest)->characters;
                        });
  if (is_alone) return {(*longest)->name, facts_of_text(**longest) + "; the longest text", names_of(found)};
  return {.candidates = names_of(found)};
}

record::ChosenColumn choose_label(const Columns& columns, const std::string& text) {
  const auto is_candidate = [&](const auto& column) { return column.name != text && may_be_label(column); };
  const auto found = those(columns, is_candidate);
  if (found.size() == 1)
    return {found[0]->name, facts_of_label(*found[0]) + "; the only column whose values repeat",
            names_of(found)};
  const auto named =
      those(columns, [&](const auto& column) { return is_candidate(column) && has_label_name(column); });
  if (named.size() == 1)
    return {named[0]->name, facts_of_label(*named[0]) + "; a usual name", names_of(found)};
  return {.candidates = names_of(found)};
}

}  // namespace encore::survey
