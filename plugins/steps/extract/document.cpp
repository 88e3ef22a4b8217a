// SPDX-License-Identifier: BSD-3-Clause
// From spans to fields and groups, and to JSON; from words with labels to spans; and whether a document
// equals the true one. extract.cpp calls it. Answers of stored runs follow from the order of choices here, so
// a change needs a new version of the step. Read document.hpp first.
#include "document.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include <encore/error.hpp>
#include <nlohmann/json.hpp>

#include "text_places.hpp"

namespace encore::extract {
namespace {

using OrderedJson = nlohmann::ordered_json;

Found found_in(const TextSpan& span, ValueType type, const ValueRules& rules) {
  return {.text = span.text,
          .start = span.start,
          .end = span.end,
          .confidence = span.least_score.value_or(span.score.value_or(1.0)),
          .value = normal_value(span.text, type, rules)};
}

/// Returns the value of a field from all its spans, in the order of the document; nothing if there is none.
std::optional<Found> best_of(std::vector<Found> spans) {
  if (spans.empty()) return std::nullopt;
  const auto best = std::ranges::max_element(spans, {}, &Found::confidence);  // the first of equal ones
  std::set<std::string_view> seen = {best->value.text};
  std::vector<std::string> others;
  for (const Found& span : spans)
    if (seen.insert(span.value.text).second) others.push_back(span.value.text);
  Found found = std::move(*best);
  found.others = std::move(others);
  return found;
}

/// The field or the member of a group to which a label belongs.
struct Place {
  bool is_field = false;
  std::size_t group = 0, number = 0;
};

std::optional<Place> place_of(const std::string& label, const Rules& rules) {
  for (std::size_t i = 0; i < rules.fields.size(); ++i)
    if (rules.fields[i].name == label) return Place{.is_field = true, .number = i};
  const std::size_t point = label.find('.');
  if (point == std::string::npos) return std::nullopt;
  for (std::size_t g = 0; g < rules.groups.size(); ++g) {
    if (label.compare(0, point, rules.groups[g].name) != 0) continue;
    for (std::size_t m = 0; m < rules.groups[g].members.size(); ++m)
      if (label.compare(point + 1, std::string::npos, rules.groups[g].members[m].name) == 0)
        return Place{.group = g, .number = m};
  }
  return std::nullopt;
}

/// The mark and the label of "B-total". A bare label has no mark.
struct Tag {
  char mark = '\0';
  std::string_view label;
};

Tag tag_of(std::string_view text) {
  if (text.empty() || text == "O" || text == "(cut)") return {};
  if (text.size() > 2 && text[1] == '-' && std::string_view("BIES").find(text[0]) != std::string_view::npos)
    return {.mark = text[0], .label = text.substr(2)};
  return {.label = text};
}

/// The bytes of each word in a text, or nothing if the text does not have the words in this order.
std::optional<std::vector<std::size_t>> starts_in(std::string_view text,
                                                  const std::vector<std::string>& words) {
  std::vector<std::size_t> starts;
  std::size_t at = 0;
  for (const std::string& word : words) {
    at = text.find(word, at);
    if (at == std::string_view::npos) return std::nullopt;
    starts.push_back(at);
    at += word.size();
  }
  return starts;
}

OrderedJson json_of(const std::optional<Found>& found, ValueType type) {
  if (!found) return nullptr;
  OrderedJson json = {{"text", found->text},
                      {"start", found->start},
                      {"end", found->end},
                      {"value", found->value.text},
                      {"confidence", found->confidence}};
  if (type == ValueType::amount) json["currency"] = found->value.currency;
  if (const std::optional<Quantity>& quantity = found->value.quantity) {
    json["count"] = quantity->count;
    json["number"] = quantity->number;
    json["unit"] = quantity->unit;
  }
  if (!found->value.is_normal()) json["problem"] = found->value.problem;
  return json;
}

}  // namespace

double Document::confidence() const {
  std::optional<double> least;
  const auto count = [&](const std::optional<Found>& found) {
    if (found) least = std::min(least.value_or(1.0), found->confidence);
  };
  for (const Field& field : fields) count(field.found);
  for (const std::vector<Group>& of_rule : groups)
    for (const Group& group : of_rule) std::ranges::for_each(group, count);
  if (least && type) least = std::min(*least, type->confidence);
  return least.value_or(0.0);
}

Document document_of(std::span<const TextSpan> spans, const Rules& rules,
                     const std::optional<DocumentType>& type) {
  std::vector<const TextSpan*> ordered;
  for (const TextSpan& span : spans) ordered.push_back(&span);
  std::ranges::stable_sort(ordered, {}, [](const TextSpan* span) { return span->start; });
  Document document{.type = type, .fields = {}, .groups = {}};
  for (const FieldRule& rule : rules.fields) document.fields.push_back({.rule = rule});
  document.groups.resize(rules.groups.size());
  std::vector<std::vector<Found>> of_fields(rules.fields.size());
  std::map<std::string, std::vector<Found>> of_labels;  // for rules that take all labels
  for (const TextSpan* span : ordered) {
    if (rules.takes_all_labels) {
      of_labels[span->label].push_back(found_in(*span, ValueType::text, rules.values));
      continue;
    }
    const std::optional<Place> place = place_of(span->label, rules);
    if (!place) continue;
    if (place->is_field) {
      of_fields[place->number].push_back(found_in(*span, rules.fields[place->number].type, rules.values));
      continue;
    }
    const GroupRule& rule = rules.groups[place->group];
    std::vector<Group>& groups = document.groups[place->group];
    const bool is_first = rules.begins_at_first && place->number == 0;
    if (groups.empty() || is_first || groups.back()[place->number]) groups.emplace_back(rule.members.size());
    groups.back()[place->number] = found_in(*span, rule.members[place->number].type, rules.values);
  }
  for (std::size_t i = 0; i < of_fields.size(); ++i)
    document.fields[i].found = best_of(std::move(of_fields[i]));
  for (auto& [label, found] : of_labels)
    document.fields.push_back({.rule = {.name = label}, .found = best_of(std::move(found))});
  return document;
}

std::vector<TextSpan> spans_of(const std::vector<std::string>& words, const std::vector<std::string>& labels,
                               std::span<const double> scores, std::string_view text) {
  if (labels.size() != words.size() || (!scores.empty() && scores.size() != words.size()))
    throw Error(std::to_string(words.size()) + " words have " + std::to_string(labels.size()) +
                " labels and " + std::to_string(scores.size()) +
                " probabilities: expected one of each for each word");
  std::string joined;
  std::optional<std::vector<std::size_t>> starts = starts_in(text, words);
  if (!starts || text.empty()) {
    starts.emplace();
    for (const std::string& word : words) {
      if (!joined.empty()) joined += ' ';
      starts->push_back(joined.size());
      joined += word;
    }
    text = joined;
  }
  std::vector<TextSpan> spans;
  std::string_view open;  // the label of the span that the next word may continue
  std::size_t byte = 0;   // code points are counted once, from here on
  std::int64_t point = 0;
  const auto point_at = [&](std::size_t at) {
    point += code_points_before(text.substr(byte), at - byte);
    byte = at;
    return point;
  };
  std::size_t begin = 0;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const Tag tag = tag_of(labels[i]);
    const bool continues = !tag.label.empty() && tag.label == open && tag.mark != 'B' && tag.mark != 'S';
    open = tag.mark == 'E' || tag.mark == 'S' ? std::string_view() : tag.label;
    if (tag.label.empty()) continue;
    const std::size_t start = (*starts)[i], end = start + words[i].size();
    const double score = scores.empty() ? 1.0 : scores[i];
    if (!continues) {
      begin = start;
      spans.push_back(
          {.label = std::string(tag.label), .text = {}, .start = point_at(start), .least_score = score});
    }
    TextSpan& span = spans.back();
    span.text = std::string(text.substr(begin, end - begin));
    span.end = point_at(end);
    span.least_score = std::min(*span.least_score, score);
  }
  return spans;
}

bool is_right(const std::optional<Found>& given, const std::optional<Found>& truth) {
  if (!given || !truth) return !given && !truth;
  return given->value.text == truth->value.text ||
         std::ranges::find(truth->others, given->value.text) != truth->others.end();
}

bool is_right(const Group& given, const Group& truth) {
  return std::ranges::equal(given, truth, [](const std::optional<Found>& a, const std::optional<Found>& b) {
    return is_right(a, b);
  });
}

bool is_right(const Document& given, const Document& truth) {
  const auto equal_field = [](const Field& a, const Field& b) {
    return a.rule.name == b.rule.name && is_right(a.found, b.found);
  };
  const auto equal_groups = [](const std::vector<Group>& a, const std::vector<Group>& b) {
    return std::ranges::equal(a, b, [](const Group& x, const Group& y) { return is_right(x, y); });
  };
  const auto name_of = [](const Document& document) { return document.type ? document.type->name : ""; };
  return name_of(given) == name_of(truth) && std::ranges::equal(given.fields, truth.fields, equal_field) &&
         std::ranges::equal(given.groups, truth.groups, equal_groups);
}

std::string json_of(const Document& document, const Rules& rules, const std::vector<Failure>& failures,
                    const std::string& band) {
  OrderedJson fields = OrderedJson::object(), groups = OrderedJson::object(),
              conflicts = OrderedJson::array(), failed = OrderedJson::array();
  for (const Field& field : document.fields) {
    fields[field.rule.name] = json_of(field.found, field.rule.type);
    if (!field.found || field.found->others.empty()) continue;
    std::vector<std::string> values = {field.found->value.text};
    values.insert(values.end(), field.found->others.begin(), field.found->others.end());
    conflicts.push_back({{"field", field.rule.name}, {"values", values}});
  }
  for (std::size_t g = 0; g < rules.groups.size(); ++g) {
    OrderedJson& list = groups[rules.groups[g].name] = OrderedJson::array();
    for (const Group& group : document.groups[g]) {
      OrderedJson members = OrderedJson::object();
      for (std::size_t m = 0; m < group.size(); ++m) {
        const FieldRule& member = rules.groups[g].members[m];
        members[member.name] = json_of(group[m], member.type);
      }
      list.push_back(std::move(members));
    }
  }
  for (const Failure& failure : failures)
    failed.push_back({{"check", failure.check}, {"reason", failure.reason}});
  OrderedJson json = {{"band", band}, {"confidence", document.confidence()}};
  if (document.type)
    json["type"] = {{"value", document.type->name}, {"confidence", document.type->confidence}};
  json["fields"] = std::move(fields);
  json["groups"] = std::move(groups);
  json["conflicts"] = std::move(conflicts);
  json["failed"] = std::move(failed);
  return json.dump(-1, ' ', false, OrderedJson::error_handler_t::replace);
}

}  // namespace encore::extract
