// SPDX-License-Identifier: BSD-3-Clause
// The checks of a document: whether its type is known, what is required, which values have their normal form
// and shape, which fields have one value, and which equations hold. extract.cpp calls failures_of(); a
// document with a failure goes to a person. Answers have the names of the checks, so a change needs a new
// version of the step. Read document.hpp first.
#include <charconv>
#include <cmath>
#include <cstdio>
#include <optional>

#include "document.hpp"
#include "rule_text.hpp"

namespace encore::extract {
namespace {

double number_in(const std::string& digits) {
  double number = 0.0;
  std::from_chars(digits.data(), digits.data() + digits.size(), number);
  return number;
}

/// Returns a number with at most six decimals, without zeros at the end.
std::string text_of(double number) {
  char text[64];
  std::snprintf(text, sizeof text, "%.6f", number);
  std::string shown = text;
  shown.erase(shown.find_last_not_of('0') + 1);
  if (shown.back() == '.') shown.pop_back();
  return shown == "-0" ? "0" : shown;
}

class Checks {
 public:
  Checks(const Document& document, const Rules& rules) : document_(document), rules_(rules) {}

  std::vector<Failure> run() {
    if (document_.type && !rules_.known_types.empty()) fail_type(document_.type->name);
    for (const std::string& name : rules_.required) require(name);
    each_value([&](const std::string& name, const Found& found) {
      if (!found.value.is_normal())
        fail("format " + name, "\"" + found.value.text + "\": " + found.value.problem);
      for (const Shape& shape : rules_.shapes)
        if (shape.name == name && found.value.is_normal() && !has_shape(found.value.text, shape.shape))
          fail("format " + name, "\"" + found.value.text + "\" does not have the shape " + shape.shape);
    });
    if (rules_.is_one_value)
      for (const Field& field : document_.fields)
        if (field.found && !field.found->others.empty()) fail_conflict(field);
    for (const Equation& equation : rules_.equations) check(equation);
    return std::move(failures_);
  }

 private:
  void fail(std::string check, std::string reason) {
    failures_.push_back({.check = std::move(check), .reason = std::move(reason)});
  }

  void fail_type(const std::string& name) {
    const std::string types = listed(rules_.known_types);
    fail("type", name.empty() ? "the document has no type: expected one of " + types
                              : in_quotes(name) + " is not one of the types " + types);
  }

  void fail_conflict(const Field& field) {
    std::string values = "\"" + field.found->value.text + "\"";
    for (const std::string& other : field.found->others) values += ", \"" + other + "\"";
    fail("one value of " + field.rule.name, "the document has several: " + values);
  }

  std::string place(std::size_t group, std::size_t number) const {
    return rules_.groups[group].name + " " + std::to_string(number + 1);
  }

  /// Calls visit(name, value) for each value; "item.amount" is the name of a member.
  template <class Visit>
  void each_value(const Visit& visit) const {
    for (const Field& field : document_.fields)
      if (field.found) visit(field.rule.name, *field.found);
    for (std::size_t g = 0; g < rules_.groups.size(); ++g)
      for (const Group& group : document_.groups[g])
        for (std::size_t m = 0; m < group.size(); ++m)
          if (group[m]) visit(rules_.groups[g].name + "." + rules_.groups[g].members[m].name, *group[m]);
  }

  void require(const std::string& name) {
    for (const Field& field : document_.fields)
      if (field.rule.name == name && !field.found) fail("required " + name, "it was not found");
    for (std::size_t g = 0; g < rules_.groups.size(); ++g) {
      const GroupRule& rule = rules_.groups[g];
      const std::vector<Group>& groups = document_.groups[g];
      if (rule.name == name && groups.empty()) fail("required " + name, "it was not found");
      for (std::size_t m = 0; m < rule.members.size(); ++m) {
        if (rule.name + "." + rule.members[m].name != name) continue;
        for (std::size_t i = 0; i < groups.size(); ++i)
          if (!groups[i][m]) fail("required " + name, "it was not found in " + place(g, i));
      }
    }
  }

  // --- equations ---

  /// Returns a number, or notes in missing_ what stands in its place.
  std::optional<double> number(const std::optional<Found>& found, const std::string& name) {
    has_value_ = has_value_ || found;
    if (found && found->value.is_normal()) return number_in(found->value.text);
    if (missing_.empty()) missing_ = name + (found ? " is not a number" : " was not found");
    return std::nullopt;
  }

  std::optional<double> member(const Factor& factor, std::size_t number_of_group) {
    const std::string& name = rules_.groups[factor.group].members[factor.member].name;
    return number(document_.groups[factor.group][number_of_group][factor.member],
                  name + " of " + place(factor.group, number_of_group));
  }

  std::optional<double> value(const Factor& factor, std::size_t number_of_group) {
    switch (factor.kind) {
      case Factor::Kind::constant:
        return factor.constant;
      case Factor::Kind::field:
        return number(document_.fields[factor.field].found, rules_.fields[factor.field].name);
      case Factor::Kind::member:
        return member(factor, number_of_group);
      case Factor::Kind::sum: {
        const std::vector<Group>& groups = document_.groups[factor.group];
        if (groups.empty() && missing_.empty())
          missing_ = rules_.groups[factor.group].name + " was not found";
        double sum = 0.0;
        for (std::size_t i = 0; i < groups.size(); ++i) sum += member(factor, i).value_or(0.0);
        return sum;
      }
    }
    return std::nullopt;
  }

  double side(const std::vector<Term>& terms, std::size_t number_of_group) {
    double sum = 0.0;
    for (const Term& term : terms) {
      double product = term.sign;
      for (const Factor& factor : term.factors) product *= value(factor, number_of_group).value_or(0.0);
      sum += product;
    }
    return sum;
  }

  void check(const Equation& equation) {
    const std::size_t times = equation.is_for_each_group ? document_.groups[equation.group].size() : 1;
    for (std::size_t i = 0; i < times; ++i) {
      missing_.clear();
      has_value_ = false;
      const double left = side(equation.left, i), right = side(equation.right, i);
      const std::string where = equation.is_for_each_group ? " in " + place(equation.group, i) : "";
      if (!missing_.empty() && has_value_)
        fail(equation.text, "it cannot be checked: " + missing_);
      else if (missing_.empty() && !(std::abs(left - right) <= rules_.tolerance + rounding))
        fail(equation.text, text_of(left) + " is not " + text_of(right) + where);
    }
  }

  static constexpr double rounding = 1e-9;  // decimals are not exact in a double

  const Document& document_;
  const Rules& rules_;
  std::vector<Failure> failures_;
  std::string missing_;     ///< of the equation that is checked; "": nothing
  bool has_value_ = false;  ///< the document has a value of this equation
};

}  // namespace

std::vector<Failure> failures_of(const Document& document, const Rules& rules) {
  return Checks(document, rules).run();
}

}  // namespace encore::extract
