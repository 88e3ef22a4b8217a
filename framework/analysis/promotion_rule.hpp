// SPDX-License-Identifier: BSD-3-Clause
// PromotionRule: the condition under which a run that was retrained takes the place of its parent, in the
// language of plan/expression.hpp over the gains of a Retraining:
//   old >= -0.5 && new > 0
// Place in the flow: `exp retrain` parses it before anything is trained and asks it at the end.
#pragma once

#include <string>

#include "analysis/retraining.hpp"
#include "plan/expression.hpp"

namespace encore {

/// The rule that holds if none is given.
inline constexpr const char* default_promotion_rule = "old >= -0.5 && new > 0";

class PromotionRule {
 public:
  /// `and` and `or` stand for && and ||. Throws Error if it cannot be read, uses an unknown name, or names
  /// nothing at all.
  explicit PromotionRule(const std::string& text);

  const std::string& text() const { return text_; }
  /// Throws Error if it asks for an interval, and such a measure has none.
  void require_answered_by(const Metric& measure) const;
  /// Returns whether it holds; the measure must be one that can answer it.
  bool holds(const Retraining& retraining) const;

 private:
  std::string text_;
  Expression expression_;
};

}  // namespace encore
