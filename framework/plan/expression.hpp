// SPDX-License-Identifier: BSD-3-Clause
// Expression: a condition of exclude or when, in [sweep] or [search]: comparisons of options, joined by &&
// and ||, with ! and parentheses. A comparison with an option that a run does not have (another layer type)
// is false. Place in the flow: sweep_reader.cpp and conditional_option.cpp parse it, point_maker.cpp
// evaluates it. Experiment files contain such conditions, so the language is only extended. An example:
//   model.layers == 12 && (model.dropout >= 0.3 || !train.patience)
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "config/error.hpp"

namespace encore::plan {

struct ExpressionNode;

class Expression {
 public:
  /// Throws Error that says what was expected and at which character.
  static Expression parse(const std::string& text);

  /// `config` is a resolved experiment. Throws Error when a string and a number are compared.
  bool holds(const nlohmann::json& config) const;
  /// Returns the options that it names, by dotted key.
  std::vector<std::string> keys() const;

 private:
  std::shared_ptr<const ExpressionNode> root_;
};

/// An expression with the place where it is written.
struct Condition {
  std::string text;
  config::Place place;
  Expression expression;
};

}  // namespace encore::plan
