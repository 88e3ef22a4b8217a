// SPDX-License-Identifier: BSD-3-Clause
// Expression: parses and evaluates the conditions of exclude and when, in [sweep] and [search].
// sweep_reader.cpp and conditional_option.cpp parse, point_maker.cpp evaluates. Experiment files contain the
// language, so it is only extended. A comparison with an option that a run lacks is false, also with !=; only
// !(...) around it is true. The parser limits the depth, so that no file can exhaust the stack. Read
// expression.hpp first.
#include "plan/expression.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <utility>

#include <nlohmann/json.hpp>

#include "base/limits.hpp"
#include "config/value.hpp"

namespace encore::plan {

using nlohmann::json;

struct ExpressionNode {
  enum class Kind { either, both, negation, comparison, flag };

  struct Operand {
    std::string key;  ///< an option, or empty for a value
    json value;
  };

  Kind kind = Kind::flag;
  std::string comparison;             ///< "==", "!=", "<", "<=", ">", ">="
  std::vector<ExpressionNode> parts;  ///< of either and both; the one that is negated
  Operand first, second;
};

namespace {

using Node = ExpressionNode;

/// Counts one more level of parentheses or negation while it lives.
class Level {
 public:
  explicit Level(std::size_t& depth) : depth_(depth) { ++depth_; }
  ~Level() { --depth_; }
  Level(const Level&) = delete;
  Level& operator=(const Level&) = delete;

 private:
  std::size_t& depth_;
};

// The grammar, where { } repeats any number of times, and [ ] is optional: expression = term { || term };
// term = factor { && factor }; factor = !factor, or (expression), or operand [comparison operand].
class Parser {
 public:
  explicit Parser(const std::string& text) : text_(text) {}

  Node parse() {
    Node node = expression();
    skip_blanks();
    if (position_ < text_.size())
      throw expected(comparison_allowed_ ? "==, !=, <, <=, >, >=, && or ||" : "&& or ||");
    return node;
  }

 private:
  Node expression() {
    Node node = term();
    while (take("||")) add(node, Node::Kind::either, term());
    return node;
  }

  Node term() {
    Node node = factor();
    while (take("&&")) add(node, Node::Kind::both, factor());
    return node;
  }

  /// Adds to a chain of one kind in the same node, so that a long chain is not deep.
  static void add(Node& chain, Node::Kind kind, Node part) {
    if (chain.kind != kind) {
      Node first = std::exchange(chain, Node());
      chain.kind = kind;
      chain.parts.push_back(std::move(first));
    }
    chain.parts.push_back(std::move(part));
  }

  Node factor() {
    if (depth_ > most_levels)
      throw Error("nested more than " + std::to_string(most_levels) + " levels deep at character " +
                  std::to_string(position_ + 1));
    if (take("!")) {
      const Level level(depth_);
      Node node;
      node.kind = Node::Kind::negation;
      node.parts.push_back(factor());
      return node;
    }
    if (take("(")) {
      const Level level(depth_);
      Node node = expression();
      if (!take(")")) throw expected("\")\"");
      comparison_allowed_ = false;
      return node;
    }
    Node node;
    node.first = operand();
    comparison_allowed_ = true;
    for (const char* sign : {"==", "!=", "<=", ">=", "<", ">"}) {
      if (!take(sign)) continue;
      node.kind = Node::Kind::comparison;
      node.comparison = sign;
      node.second = operand();
      comparison_allowed_ = false;
      break;
    }
    return node;
  }

  Node::Operand operand() {
    skip_blanks();
    if (position_ == text_.size()) throw expected("an option or a value");
    const char letter = text_[position_];
    if (letter == '"' || letter == '\'') return {"", quoted(letter)};
    if (std::isdigit(static_cast<unsigned char>(letter)) != 0 || letter == '-' || letter == '.')
      return {"", number()};
    const std::string word = name();
    if (word.empty()) throw expected("an option or a value");
    if (word == "true" || word == "false") return {"", word == "true"};
    return {word, nullptr};
  }

  json quoted(char quote) {
    const std::size_t end = text_.find(quote, position_ + 1);
    if (end == std::string::npos) throw expected(std::string("a closing ") + quote);
    const std::string inner = text_.substr(position_ + 1, end - position_ - 1);
    position_ = end + 1;
    return inner;
  }

  json number() {
    double value = 0.0;
    const auto result = std::from_chars(text_.data() + position_, text_.data() + text_.size(), value);
    if (result.ec != std::errc()) throw expected("a number");
    position_ = static_cast<std::size_t>(result.ptr - text_.data());
    return value;
  }

  std::string name() {
    const std::size_t begin = position_;
    while (position_ < text_.size()) {
      const auto letter = static_cast<unsigned char>(text_[position_]);
      if (std::isalnum(letter) == 0 && letter != '_' && letter != '.' && letter != '-') break;
      ++position_;
    }
    return text_.substr(begin, position_ - begin);
  }

  bool take(const std::string& sign) {
    skip_blanks();
    if (text_.compare(position_, sign.size(), sign) != 0) return false;
    // the "!" of "!=" is not a negation
    if (sign == "!" && text_.compare(position_, 2, "!=") == 0) return false;
    position_ += sign.size();
    return true;
  }

  void skip_blanks() {
    while (position_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[position_])) != 0)
      ++position_;
  }

  Error expected(const std::string& what) {
    skip_blanks();
    const std::string found =
        position_ < text_.size() ? "\"" + text_.substr(position_, 10) + "\"" : "the end";
    return Error("expected " + what + " at character " + std::to_string(position_ + 1) + ", found " + found);
  }

  const std::string& text_;
  std::size_t position_ = 0;
  std::size_t depth_ = 0;  ///< of parentheses and negations
  bool comparison_allowed_ = false;
};

const json* find_option(const json& config, const std::string& key) {
  const json* place = &config;
  for (std::size_t begin = 0; begin <= key.size();) {
    const std::size_t end = std::min(key.find('.', begin), key.size());
    if (!place->is_object()) return nullptr;
    const auto found = place->find(key.substr(begin, end - begin));
    if (found == place->end()) return nullptr;
    place = &*found;
    begin = end + 1;
  }
  return place;
}

// Returns null if the run has no such option.
const json* value_of(const Node::Operand& operand, const json& config) {
  return operand.key.empty() ? &operand.value : find_option(config, operand.key);
}

std::string describe(const Node::Operand& operand, const json& value) {
  std::string type = "a list";
  if (value.is_boolean()) type = "true or false";
  if (value.is_number()) type = "a number";
  if (value.is_string()) type = "text";
  if (value.is_object()) type = "a table";
  const std::string literal = value.is_number() ? config::shortest(value.get<double>()) : value.dump();
  return (operand.key.empty() ? literal : "\"" + operand.key + "\"") + " is " + type;
}

template <class T>
bool compare(const std::string& sign, const T& a, const T& b) {
  if (sign == "==") return a == b;
  if (sign == "!=") return a != b;
  if (sign == "<") return a < b;
  if (sign == "<=") return a <= b;
  if (sign == ">") return a > b;
  return a >= b;
}

bool compare(const Node& node, const json& config) {
  const json* a = value_of(node.first, config);
  const json* b = value_of(node.second, config);
  if (a == nullptr || b == nullptr) return false;
  if (a->is_number() && b->is_number()) return compare(node.comparison, a->get<double>(), b->get<double>());
  if (a->is_string() && b->is_string())
    return compare(node.comparison, a->get<std::string>(), b->get<std::string>());
  const bool equality = node.comparison == "==" || node.comparison == "!=";
  if (a->is_boolean() && b->is_boolean() && equality)
    return compare(node.comparison, a->get<bool>(), b->get<bool>());
  throw Error(describe(node.first, *a) + ", " + describe(node.second, *b) +
              ": they cannot be compared with " + node.comparison);
}

bool holds(const Node& node, const json& config) {
  switch (node.kind) {
    case Node::Kind::either:
      return std::ranges::any_of(node.parts, [&](const Node& part) { return holds(part, config); });
    case Node::Kind::both:
      return std::ranges::all_of(node.parts, [&](const Node& part) { return holds(part, config); });
    case Node::Kind::negation:
      return !holds(node.parts.front(), config);
    case Node::Kind::comparison:
      return compare(node, config);
    case Node::Kind::flag:
      break;
  }
  const json* value = value_of(node.first, config);
  if (value == nullptr) return false;
  if (!value->is_boolean())
    throw Error(describe(node.first, *value) + "; compare it, as in model.layers == 4");
  return value->get<bool>();
}

void collect_keys(const Node& node, std::vector<std::string>& keys) {
  for (const Node::Operand* operand : {&node.first, &node.second})
    if (!operand->key.empty()) keys.push_back(operand->key);
  for (const Node& part : node.parts) collect_keys(part, keys);
}

}  // namespace

Expression Expression::parse(const std::string& text) {
  Expression expression;
  expression.root_ = std::make_shared<const Node>(Parser(text).parse());
  return expression;
}

bool Expression::holds(const json& config) const {
  return plan::holds(*root_, config);
}

std::vector<std::string> Expression::keys() const {
  std::vector<std::string> keys;
  collect_keys(*root_, keys);
  return keys;
}

}  // namespace encore::plan
