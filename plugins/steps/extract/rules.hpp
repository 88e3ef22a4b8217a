// SPDX-License-Identifier: BSD-3-Clause
// What a document has by the options of the step `extract`: its fields, its groups of fields that repeat, and
// the checks of their values. document_types.cpp makes the rules from the options, document.cpp finds values
// by them, and checks.cpp checks the values. Experiment files have the notation, so a change of it must
// accept what it accepted before. Read next: document_types.hpp, rules.cpp, values.hpp.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <encore/options.hpp>

#include "values.hpp"

namespace encore::extract {

/// A field with one value. The label of its words is the name, in a group GROUP.NAME.
struct FieldRule {
  std::string name;
  ValueType type = ValueType::text;
};

/// Fields that stand together and repeat, such as the lines of an invoice.
struct GroupRule {
  std::string name;
  std::vector<FieldRule> members;  ///< at least one
};

/// A factor of a term: a number, a field, a member of a group, or the sum of a member over all groups.
struct Factor {
  enum class Kind { constant, field, member, sum };
  Kind kind = Kind::constant;
  double constant = 0.0;
  std::size_t field = 0;              ///< its number in Rules::fields
  std::size_t group = 0, member = 0;  ///< their numbers
};

/// A product with a sign; an equation is a sum of terms that must be 0.
struct Term {
  double sign = 1.0;
  std::vector<Factor> factors;
};

struct Equation {
  std::string text;  ///< as it is written
  std::vector<Term> left, right;
  bool is_for_each_group = false;  ///< a factor is a member: it is checked for each group
  std::size_t group = 0;           ///< the group of these members
};

/// The form of a value, such as "@@-######".
struct Shape {
  std::string name, shape;
};

struct Rules {
  std::vector<FieldRule> fields;
  std::vector<GroupRule> groups;
  bool begins_at_first = true;  ///< a group begins with its first member, not only with a repeated one
  ValueRules values;
  std::vector<std::string> required;  ///< names of fields and groups, or GROUP.MEMBER
  std::vector<Equation> equations;
  double tolerance = 0.0;
  std::vector<Shape> shapes;
  bool is_one_value = true;       ///< several values of a field are a failed check
  bool takes_all_labels = false;  ///< each label of the model is a field, because the options name none
  /// For documents of an unknown type: the types that the options name. The documents have no field, and the
  /// check "type" fails.
  std::vector<std::string> known_types = {};

  /// Returns the labels of words that the rules name: of fields, and GROUP.MEMBER.
  std::vector<std::string> labels() const;
  /// Returns the labels, and the names of the groups.
  std::vector<std::string> names() const;
};

/// The values of the options `required`, `equations` and `shapes`.
struct CheckEntries {
  std::vector<std::string> required, equations, shapes;
};

/// Adds the options that rules_in() reads.
void add_rule_options(Schema& schema);
/// Returns the rules of documents without types. Throws OptionError for an invalid value, which the message
/// names.
Rules rules_in(const Options& options);

/// Return the parts of rules_in(): the rules without what the entries describe, and the entries.
Rules values_in(const Options& options);
CheckEntries check_entries(const Options& options);
/// Sets what the entries describe. Throws OptionError if an entry is invalid or names an unknown field.
void set_checks(Rules& rules, const CheckEntries& entries);

/// Returns whether a value has a shape: "#" is a digit, "@" a letter, "+" repeats the sign before it one or
/// more times, and every other character is itself.
bool has_shape(std::string_view value, std::string_view shape);

}  // namespace encore::extract
