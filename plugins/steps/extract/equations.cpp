// SPDX-License-Identifier: BSD-3-Clause
// The reader of equations: two sides with "=" between them, which are sums of products of numbers, fields and
// sum(GROUP.MEMBER). rules.cpp calls it. Read equations.hpp first.
#include "equations.hpp"

#include <charconv>
#include <string_view>
#include <utility>
#include <vector>

#include <encore/options.hpp>

#include "letters.hpp"
#include "rule_text.hpp"

namespace encore::extract {
namespace {

/// Reads one equation, such as "sum(item.amount) + tax = total".
class EquationReader {
 public:
  EquationReader(const Rules& rules, const std::string& text) : rules_(rules), text_(text) {}

  Equation read() {
    Equation equation{.text = text_, .left = {}, .right = {}};
    equation_ = &equation;
    equation.left = side();
    if (!take('=')) refuse("expected \"=\" between two sides, such as \"sum(item.amount) = total\"");
    equation.right = side();
    if (next() != '\0') refuse("expected its end before " + in_quotes(rest()));
    return equation;
  }

 private:
  [[noreturn]] void refuse(const std::string& what) const {
    throw OptionError("equations", "invalid equations " + in_quotes(text_) + ": " + what);
  }
  char next() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool take(char sign) {
    if (next() != sign) return false;
    ++at_;
    return true;
  }
  std::string_view rest() const { return std::string_view(text_).substr(at_); }

  std::vector<Term> side() {
    std::vector<Term> terms;
    double sign = take('-') ? -1.0 : 1.0;
    for (;;) {
      Term term{.sign = sign, .factors = {factor()}};
      while (take('*')) term.factors.push_back(factor());
      terms.push_back(std::move(term));
      if (take('+'))
        sign = 1.0;
      else if (take('-'))
        sign = -1.0;
      else
        return terms;
    }
  }

  std::string name() {
    static_cast<void>(next());
    const std::size_t begin = at_;
    const auto is_part = [](char letter) {
      return is_letter(letter) || is_digit(letter) || letter == '_' || letter == '.';
    };
    while (at_ < text_.size() && is_part(text_[at_])) ++at_;
    return text_.substr(begin, at_ - begin);
  }

  Factor factor() {
    const std::string word = name();
    if (word.empty()) refuse("expected a number, a field, or sum(GROUP.MEMBER) before " + in_quotes(rest()));
    if (is_digit(word.front())) {
      double number = 0.0;
      const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
      if (error != std::errc() || end != word.data() + word.size())
        refuse(in_quotes(word) + " is not a number");
      return {.kind = Factor::Kind::constant, .constant = number};
    }
    if (word == "sum" && take('(')) {
      Factor member = named(name());
      if (member.kind != Factor::Kind::member || !take(')'))
        refuse("expected sum(GROUP.MEMBER) with a member of a group");
      member.kind = Factor::Kind::sum;
      return member;
    }
    const Factor factor = named(word);
    if (factor.kind != Factor::Kind::member) return factor;
    if (equation_->is_for_each_group && equation_->group != factor.group)
      refuse("it has members of two groups: expected one group, or sum(GROUP.MEMBER)");
    equation_->is_for_each_group = true;
    equation_->group = factor.group;
    return factor;
  }

  Factor named(const std::string& word) {
    require_known("equations", text_, word, rules_.labels());
    Factor factor;
    ValueType type = ValueType::text;
    for (std::size_t i = 0; i < rules_.fields.size(); ++i)
      if (rules_.fields[i].name == word) {
        factor = {.kind = Factor::Kind::field, .field = i};
        type = rules_.fields[i].type;
      }
    for (std::size_t g = 0; g < rules_.groups.size(); ++g)
      for (std::size_t m = 0; m < rules_.groups[g].members.size(); ++m)
        if (rules_.groups[g].name + "." + rules_.groups[g].members[m].name == word) {
          factor = {.kind = Factor::Kind::member, .group = g, .member = m};
          type = rules_.groups[g].members[m].type;
        }
    if (type != ValueType::amount && type != ValueType::number)
      refuse(in_quotes(word) + " is not a number: give it the type amount or number");
    return factor;
  }

  const Rules& rules_;
  const std::string& text_;
  std::size_t at_ = 0;
  Equation* equation_ = nullptr;
};

}  // namespace

Equation read_equation(const Rules& rules, const std::string& text) {
  return EquationReader(rules, text).read();
}

}  // namespace encore::extract
