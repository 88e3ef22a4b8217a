// SPDX-License-Identifier: BSD-3-Clause
// Reads the options of the step `extract` that describe a document: fields and groups with their types, names
// that are required, equations and shapes. document_types.cpp calls it in the constructor of the step, so an
// invalid option is refused before anything starts. Read rules.hpp first.
#include "rules.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <utility>

#include <encore/lines.hpp>

#include "equations.hpp"
#include "letters.hpp"
#include "rule_text.hpp"

namespace encore::extract {
namespace {

/// Names of fields that the step gives itself, or that have a meaning for the host (encore/step.hpp).
constexpr std::array<std::string_view, 8> own_fields = {"json",  "band",   "confidence", "shown",
                                                        "label", "vector", "texts",      "scope"};

/// Reads "NAME" or "NAME: TYPE". `entry` is the value of the option, for messages.
FieldRule field_in(const char* option, std::string_view text, std::string_view entry) {
  const std::vector<std::string_view> parts = split(text, ':');
  const auto refuse = [&](const std::string& what) {
    throw OptionError(option, "invalid " + std::string(option) + " " + in_quotes(entry) + ": " + what);
  };
  if (!is_name(parts[0]))
    refuse("expected a name of letters, digits and \"_\" that begins with a letter, found " +
           in_quotes(parts[0]));
  const std::string type(parts.size() > 1 ? parts[1] : "text");
  const std::optional<ValueType> known = value_type(type);
  if (parts.size() > 2 || !known)
    refuse("expected one of the types " + listed(value_type_names()) + " behind " +
           in_quotes(std::string(parts[0]) + ":"));
  return {.name = std::string(parts[0]), .type = *known};
}

std::vector<FieldRule> fields_in(const Options& options) {
  std::vector<FieldRule> fields;
  for (const std::string& entry : options.text_list("fields")) {
    fields.push_back(field_in("fields", entry, entry));
    const std::string& name = fields.back().name;
    if (std::ranges::find(own_fields, name) != own_fields.end())
      throw OptionError("fields", "invalid fields " + in_quotes(entry) + ": the step gives a field " +
                                      in_quotes(name) +
                                      " of its own; rename the label of this field in the data");
  }
  return fields;
}

std::vector<GroupRule> groups_in(const Options& options) {
  std::vector<GroupRule> groups;
  for (const std::string& entry : options.text_list("groups")) {
    const std::size_t colon = entry.find(':');
    const std::string_view name = trimmed(std::string_view(entry).substr(0, colon));
    if (colon == std::string::npos || !is_name(name))
      throw OptionError("groups",
                        "invalid groups " + in_quotes(entry) +
                            ": expected the name of a group and its members, such as \"item: description, "
                            "quantity: number, amount: amount\"");
    GroupRule group{.name = std::string(name), .members = {}};
    for (const std::string_view member : split(std::string_view(entry).substr(colon + 1), ','))
      group.members.push_back(field_in("groups", member, entry));
    groups.push_back(std::move(group));
  }
  return groups;
}

std::vector<Shape> shapes_in(const std::vector<std::string>& entries, const Rules& rules) {
  std::vector<Shape> shapes;
  for (const std::string& entry : entries) {
    const std::size_t colon = entry.find(':');
    const std::string name(trimmed(std::string_view(entry).substr(0, colon)));
    const std::string shape(colon == std::string::npos ? ""
                                                       : trimmed(std::string_view(entry).substr(colon + 1)));
    if (shape.empty() || shape.front() == '+' || shape.find("++") != std::string::npos)
      throw OptionError(
          "shapes", "invalid shapes " + in_quotes(entry) +
                        ": expected NAME: SHAPE, in which # is a digit, @ a letter and + repeats the sign "
                        "before it, such as \"number: @@-####+\"");
    require_known("shapes", entry, name, rules.labels());
    shapes.push_back({.name = name, .shape = shape});
  }
  return shapes;
}

std::vector<DateLanguage> date_languages_in(const Options& options) {
  constexpr const char* option = "date_languages";
  std::vector<DateLanguage> languages;
  for (const std::string& name : options.text_list(option)) {
    const std::optional<DateLanguage> language = date_language(name);
    if (!language)
      throw OptionError(option, "invalid date_languages " + in_quotes(name) + ": expected " +
                                    listed(date_language_names()) + ", or several of them");
    languages.push_back(*language);
  }
  if (languages.empty())
    throw OptionError(option,
                      "date_languages is empty: expected at least one of " + listed(date_language_names()));
  return languages;
}

}  // namespace

void add_rule_options(Schema& schema) {
  schema
      .text_list(
          "fields", {},
          {.help = "fields with one value in each document: NAME or NAME: TYPE, such as [\"company\", "
                   "\"date: date\"]. NAME is the label of the words; TYPE is text, date, amount, number, "
                   "phone, identifier, unit or account. Without fields and groups each label is a field of "
                   "the type text"})
      .text_list(
          "groups", {},
          {.help = "groups of fields that repeat, such as [\"item: description, quantity: number, amount: "
                   "amount\"]; the words of a member have the label GROUP.MEMBER"})
      .choice(
          "group_start", "first", {"first", "repeat"},
          {.help = "where a group begins. first: at the first member of the option groups, and at a member "
                   "that the group before it has already; repeat: only at such a repeated member, for "
                   "documents whose columns have different orders"})
      .choice("date_order", "day", {"day", "month"},
              {.help = "which of two numbers comes first in a date, as in 03/04/2020; if only one order is a "
                       "date, it is taken. A year of four digits may come first with either value"})
      .integer(
          "first_year", 1970,
          {.help = "years of two digits are this year or one of the 99 after it", .min = 1000, .max = 9900})
      .text_list(
          "date_languages", {"en"},
          {.help = "languages of the names of months and weekdays: en, de, fr, es or it, or several of "
                   "them, such as [\"de\", \"fr\"]"})
      .choice("decimal", "auto", {"auto", "point", "comma"},
              {.help = "the mark in front of decimals. auto: the marks of each number decide, and \"1,234\" "
                       "stays as it is, because it may be two numbers"})
      .text(
          "line_mark", "",
          {.help = "a word that stands for the end of a line, such as \"|\"; it is not part of values. \"\": "
                   "none"})
      .text_list(
          "required", {},
          {.help = "fields, groups or GROUP.MEMBER that a document must have: a group at least once, a "
                   "member in each group"})
      .text_list(
          "equations", {},
          {.help = "sums that must hold, such as [\"sum(item.amount) + tax = total\", \"item.quantity * "
                   "item.price = item.amount\"]; an equation with members outside of sum() is checked for "
                   "each group. An equation of which a document has no value is not checked"})
      .number("tolerance", 0.005, {.help = "largest difference of the two sides of an equation", .min = 0.0})
      .text_list(
          "shapes", {},
          {.help = "forms of normalized values: NAME: SHAPE, in which # is a digit, @ a letter of a to z "
                   "and + repeats the sign before it, such as [\"number: @@####+\"]"})
      .choice("conflicts", "fail", {"fail", "allow"},
              {.help = "what several different values of a field mean. fail: a failed check; allow: the most "
                       "probable value is taken"});
}

std::vector<std::string> Rules::labels() const {
  std::vector<std::string> labels;
  for (const FieldRule& field : fields) labels.push_back(field.name);
  for (const GroupRule& group : groups)
    for (const FieldRule& member : group.members) labels.push_back(group.name + "." + member.name);
  return labels;
}

std::vector<std::string> Rules::names() const {
  std::vector<std::string> names = labels();
  for (const GroupRule& group : groups) names.push_back(group.name);
  return names;
}

CheckEntries check_entries(const Options& options) {
  return {.required = options.text_list("required"),
          .equations = options.text_list("equations"),
          .shapes = options.text_list("shapes")};
}

void set_checks(Rules& rules, const CheckEntries& entries) {
  for (const std::string& name : entries.required) require_known("required", name, name, rules.names());
  rules.required = entries.required;
  rules.equations.clear();
  for (const std::string& text : entries.equations) rules.equations.push_back(read_equation(rules, text));
  rules.shapes = shapes_in(entries.shapes, rules);
}

Rules values_in(const Options& options) {
  Rules rules;
  rules.fields = fields_in(options);
  rules.groups = groups_in(options);
  std::vector<std::string> names;
  for (const FieldRule& field : rules.fields) names.push_back(field.name);
  require_different("fields", names);
  for (const GroupRule& group : rules.groups) {
    names.push_back(group.name);
    std::vector<std::string> members;
    for (const FieldRule& member : group.members) members.push_back(member.name);
    require_different("groups", members);
  }
  require_different("groups", names);
  const std::string& decimal = options.text("decimal");
  rules.values = {.day_first = options.text("date_order") == "day",
                  .first_year = static_cast<int>(options.integer("first_year")),
                  .date_languages = date_languages_in(options),
                  .decimal = decimal == "point"   ? DecimalMark::point
                             : decimal == "comma" ? DecimalMark::comma
                                                  : DecimalMark::automatic,
                  .line_mark = options.text("line_mark")};
  if (std::ranges::any_of(rules.values.line_mark, is_space))
    throw OptionError("line_mark", "invalid line_mark " + in_quotes(rules.values.line_mark) +
                                       ": expected one word without white space");
  rules.begins_at_first = options.text("group_start") == "first";
  rules.tolerance = options.number("tolerance");
  rules.is_one_value = options.text("conflicts") == "fail";
  rules.takes_all_labels = rules.fields.empty() && rules.groups.empty();
  return rules;
}

Rules rules_in(const Options& options) {
  Rules rules = values_in(options);
  set_checks(rules, check_entries(options));
  return rules;
}

// The signs of the shape that may come next are followed side by side, so that no input takes long.
bool has_shape(std::string_view value, std::string_view shape) {
  const auto is_sign = [](char letter, char sign) {
    if (sign == '#') return is_digit(letter);
    if (sign == '@') return is_letter(letter);
    return letter == sign;
  };
  std::vector<bool> at(shape.size() + 1, false);  // the next sign is number i
  at[0] = true;
  for (const char letter : value) {
    std::vector<bool> then(shape.size() + 1, false);
    for (std::size_t i = 0; i < shape.size(); ++i) {
      if (!at[i] || !is_sign(letter, shape[i])) continue;
      const bool repeats = i + 1 < shape.size() && shape[i + 1] == '+';
      if (repeats) then[i] = true;
      then[repeats ? i + 2 : i + 1] = true;
    }
    at = std::move(then);
  }
  return at[shape.size()];
}

}  // namespace encore::extract
