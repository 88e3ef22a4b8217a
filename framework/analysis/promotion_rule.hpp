// SPDX-License-Identifier: BSD-3-Clause
// PromotionRule: the condition under which a retrained run takes the place of its parent. It is an
// expression (plan/expression.hpp) over the gains of a Retraining, such as `old >= -0.5 && new > 0`.
// app/retrain.cpp parses it before anything is trained and evaluates it at the end. Users write the names in
// their rules, so these stay.
#pragma once

#include <string>

#include "analysis/retraining.hpp"
#include "plan/expression.hpp"

namespace encore::analysis {

/// The rule that is used if the user gives none.
inline constexpr const char* default_promotion_rule = "old >= -0.5 && new > 0";

class PromotionRule {
 public:
  /// Parses the rule; `and` and `or` stand for && and ||. Throws Error if it is not an expression, has an
  /// unknown name, or has no name at all.
  explicit PromotionRule(const std::string& text);

  const std::string& text() const { return text_; }
  /// Throws Error if the rule uses the interval of a gain and `measure` has no interval.
  void require_answered_by(const Metric& measure) const;
  /// Returns whether the rule holds. require_answered_by() must have accepted the measure.
  bool holds(const Retraining& retraining) const;

 private:
  std::string text_;
  plan::Expression expression_;
};

}  // namespace encore::analysis
