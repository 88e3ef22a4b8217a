// SPDX-License-Identifier: BSD-3-Clause
// Reads the option `types`, and distributes the entries of `required`, `equations` and `shapes` to the types
// that have the fields which an entry names. extract.cpp calls it in the constructor of the step, so an
// invalid option is refused before anything starts. Read document_types.hpp first.
#include "document_types.hpp"

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include <encore/lines.hpp>

#include "rule_text.hpp"

namespace encore::extract {
namespace {

/// A type with the names of its fields and groups.
struct TypeRule {
  std::string name;
  std::vector<std::string> names;
};

/// An entry of an option, and the type that stands in front of it; "": it has none.
struct TypedEntry {
  std::string type, text;
};

std::vector<std::string> names_of(const std::vector<TypeRule>& types) {
  std::vector<std::string> names;
  for (const TypeRule& type : types) names.push_back(type.name);
  return names;
}

/// Returns the names of fields and groups, without those of members.
std::vector<std::string> names_of_parts(const Rules& rules) {
  std::vector<std::string> names;
  for (const FieldRule& field : rules.fields) names.push_back(field.name);
  for (const GroupRule& group : rules.groups) names.push_back(group.name);
  return names;
}

std::vector<TypeRule> types_in(const Options& options, const Rules& all) {
  const std::vector<std::string> parts = names_of_parts(all);
  std::vector<TypeRule> types;
  std::set<std::string> used;
  for (const std::string& entry : options.text_list("types")) {
    const std::size_t colon = entry.find(':');
    const std::string_view name = trimmed(std::string_view(entry).substr(0, colon));
    if (colon == std::string::npos || name.empty())
      throw OptionError("types",
                        "invalid types " + in_quotes(entry) +
                            ": expected the name of a type and its fields and groups, such as \"bill: "
                            "number, total, item\"");
    TypeRule type{.name = std::string(name), .names = {}};
    for (const std::string_view part : split(std::string_view(entry).substr(colon + 1), ',')) {
      type.names.emplace_back(part);
      require_known("types", entry, type.names.back(), parts);
      used.insert(type.names.back());
    }
    require_different("types", type.names);
    types.push_back(std::move(type));
  }
  require_different("types", names_of(types));
  for (const std::string& part : parts)
    if (!types.empty() && !used.contains(part))
      throw OptionError("types",
                        "no type has " + in_quotes(part) +
                            ", which is in fields or groups: add it to an entry of types, or remove it");
  return types;
}

TypedEntry typed_entry(const char* option, const std::string& entry, const std::vector<TypeRule>& types) {
  const std::size_t colon = entry.find(':');
  if (colon == std::string::npos) return {.type = "", .text = entry};
  const std::string type(trimmed(std::string_view(entry).substr(0, colon)));
  const std::vector<std::string> names = names_of(types);
  if (std::ranges::find(names, type) == names.end())
    throw OptionError(option, "invalid " + std::string(option) + " " + in_quotes(entry) + ": unknown type " +
                                  in_quotes(type) + ": expected one of " + listed(names) +
                                  " in front of \":\"");
  return {.type = type, .text = std::string(trimmed(std::string_view(entry).substr(colon + 1)))};
}

std::vector<TypedEntry> typed_entries(const char* option, const std::vector<std::string>& entries,
                                      const std::vector<TypeRule>& types) {
  std::vector<TypedEntry> all;
  for (const std::string& entry : entries) all.push_back(typed_entry(option, entry, types));
  return all;
}

std::vector<std::string> texts_of(const std::vector<TypedEntry>& entries) {
  std::vector<std::string> texts;
  for (const TypedEntry& entry : entries) texts.push_back(entry.text);
  return texts;
}

/// Returns the names of the fields and members in an equation of these rules.
std::vector<std::string> names_in(const Equation& equation, const Rules& rules) {
  std::vector<std::string> names;
  for (const std::vector<Term>* side : {&equation.left, &equation.right})
    for (const Term& term : *side)
      for (const Factor& factor : term.factors) {
        if (factor.kind == Factor::Kind::constant) continue;
        const bool is_field = factor.kind == Factor::Kind::field;
        const GroupRule* group = is_field ? nullptr : &rules.groups[factor.group];
        names.push_back(is_field ? rules.fields[factor.field].name
                                 : group->name + "." + group->members[factor.member].name);
      }
  return names;
}

/// Returns whether a type has all names of an entry. Throws OptionError if it does not, although the entry is
/// for this type.
bool concerns(const char* option, const TypedEntry& entry, const std::vector<std::string>& names,
              const TypeRule& type, const Rules& of_type) {
  if (!entry.type.empty() && entry.type != type.name) return false;
  const std::vector<std::string> known = of_type.names();
  for (const std::string& name : names) {
    if (std::ranges::find(known, name) != known.end()) continue;
    if (entry.type.empty()) return false;
    throw OptionError(option, "invalid " + std::string(option) + " " +
                                  in_quotes(entry.type + ": " + entry.text) + ": the type " +
                                  in_quotes(entry.type) + " does not have " + in_quotes(name) +
                                  ": add it to this entry of types, or remove it here");
  }
  return true;
}

/// Returns the rules of all documents with the fields and groups of one type, without checks.
Rules values_of(const TypeRule& type, const Rules& all) {
  const auto is_missing = [&](const auto& part) {
    return std::ranges::find(type.names, part.name) == type.names.end();
  };
  Rules rules = all;
  std::erase_if(rules.fields, is_missing);
  std::erase_if(rules.groups, is_missing);
  return rules;
}

}  // namespace

const Rules& TypedRules::of(const std::optional<DocumentType>& type) const {
  if (!type) return all;
  const auto found = of_types.find(type->name);
  return found == of_types.end() ? of_unknown : found->second;
}

void add_type_options(Schema& schema) {
  schema
      .text_list(
          "types", {},
          {.help = "types of documents with their fields and groups, such as [\"bill: number, total, item\", "
                   "\"letter: number, claim\"]; needs type_from. An entry of required, equations or "
                   "shapes holds for the types that have all fields it names; TYPE: in front of an entry "
                   "of required or equations limits it to this type"})
      .text(
          "type_from", "",
          {.help = "field with the type of each document, such as \"kind.label\" of a step `kind` that "
                   "predicts it, or a field of the data. A document of a type that types does not name has "
                   "no field and is left to a person. If a step gives the type, the field label of the data "
                   "is the true one"})
      .text(
          "type_confidence", "",
          {.help =
               "field with the probability of the type, such as \"kind.score\", which counts like that of a "
               "value; \"\": the type is certain"});
}

TypedRules typed_rules_in(const Options& options) {
  const bool has_types = !options.text_list("types").empty();
  if (has_types == options.text("type_from").empty())
    throw OptionError(has_types ? "types" : "type_from",
                      has_types
                          ? "types needs type_from, the field with the type of each document: set it, "
                            "such as type_from = \"kind.label\""
                          : "type_from needs types, what the documents of each type have: set it, such as "
                            "types = [\"bill: number, total\", \"letter: number\"]");
  if (!has_types && !options.text("type_confidence").empty())
    throw OptionError("type_confidence", "type_confidence needs types and type_from: set them, or remove it");
  if (!has_types) return {.all = rules_in(options)};
  TypedRules typed{.all = values_in(options)};
  const std::vector<TypeRule> types = types_in(options, typed.all);
  const CheckEntries written = check_entries(options);
  const std::vector<TypedEntry> required = typed_entries("required", written.required, types),
                                equations = typed_entries("equations", written.equations, types);
  set_checks(typed.all,
             {.required = texts_of(required), .equations = texts_of(equations), .shapes = written.shapes});
  for (const TypeRule& type : types) {
    Rules rules = values_of(type, typed.all);
    CheckEntries own;
    for (const TypedEntry& entry : required)
      if (concerns("required", entry, {entry.text}, type, rules)) own.required.push_back(entry.text);
    for (std::size_t i = 0; i < equations.size(); ++i)
      if (concerns("equations", equations[i], names_in(typed.all.equations[i], typed.all), type, rules))
        own.equations.push_back(equations[i].text);
    for (std::size_t i = 0; i < written.shapes.size(); ++i)
      if (concerns("shapes", {}, {typed.all.shapes[i].name}, type, rules))
        own.shapes.push_back(written.shapes[i]);
    set_checks(rules, own);
    typed.of_types.emplace(type.name, std::move(rules));
  }
  typed.of_unknown.values = typed.all.values;
  typed.of_unknown.known_types = names_of(types);
  return typed;
}

}  // namespace encore::extract
