// SPDX-License-Identifier: BSD-3-Clause
// Parses the rule of `exp retrain --promote-if` and evaluates it: each name in the rule (old, new, old_low
// and others) stands for a gain of the Retraining. Users write these names, so they stay. app/retrain.cpp
// calls it. Read promotion_rule.hpp first.
#include "analysis/promotion_rule.hpp"

#include <algorithm>
#include <regex>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/nearest.hpp"

namespace encore::analysis {

namespace {

const std::vector<std::string>& known_names() {
  static const std::vector<std::string> names = {"old", "new", "old_low", "new_low", "old_high", "new_high"};
  return names;
}

plan::Expression parsed(const std::string& text) {
  static const std::regex conjunction(R"(\band\b)"), alternative(R"(\bor\b)");
  return plan::Expression::parse(
      std::regex_replace(std::regex_replace(text, conjunction, "&&"), alternative, "||"));
}

void add_gains(nlohmann::json& values, const std::string& name, const ComparedSet& set) {
  values[name] = set.gain;
  if (!set.low || !set.high) return;
  values[name + "_low"] = *set.low;
  values[name + "_high"] = *set.high;
}

}  // namespace

PromotionRule::PromotionRule(const std::string& text) : text_(text) {
  const std::string title = "the rule \"" + text + "\" ";
  try {
    expression_ = parsed(text);
  } catch (const Error& error) {
    throw Error(title + "cannot be read: " + error.what());
  }
  const std::vector<std::string> names = expression_.keys();
  if (names.empty()) throw Error(title + "names no measured value; there are " + quoted_list(known_names()));
  for (const std::string& name : names)
    if (std::ranges::find(known_names(), name) == known_names().end())
      throw Error(title + "names \"" + name + "\"" +
                  did_you_mean(name, known_names(), "; there are " + quoted_list(known_names())));
}

void PromotionRule::require_answered_by(const Metric& measure) const {
  if (follows_from_examples(measure)) return;
  for (const std::string& name : expression_.keys())
    if (name.find('_') != std::string::npos)
      throw Error("the rule \"" + text_ + "\" asks for " + name + ", but " + measure.measure_name() +
                  " does not follow from single examples, so that it has no interval; leave it out, or "
                  "choose another measure (--measure)");
}

bool PromotionRule::holds(const Retraining& retraining) const {
  nlohmann::json values = nlohmann::json::object();
  add_gains(values, "old", retraining.old_set);
  add_gains(values, "new", retraining.new_set);
  return expression_.holds(values);
}

}  // namespace encore::analysis
