// SPDX-License-Identifier: BSD-3-Clause
// The result of AlertWatch for people and programs: JSON, and the words for values and bounds.
// cli/monitor_alerts.cpp prints both, and gives the JSON of an alert to the command of --on-alert, so a
// member keeps its name.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "monitor/alert_watch.hpp"

namespace encore::monitor {

/// Returns the alert with its rule and `text`, one sentence for a message.
nlohmann::ordered_json json_of(const AlertRule& rule, const Alert& alert);
/// Returns events, rules, alerts and groups.
nlohmann::ordered_json json_of(const AlertWatch& watch);

/// How the share of a group differs from that of all other groups together.
struct GroupShare {
  std::size_t rule = 0;
  std::string group = {};
  EventCount count = {};
  analysis::Interval share = {};
  std::optional<double> difference = {};  ///< nothing if no other group has items
  analysis::Interval interval = {};       ///< of the difference
};
/// Returns the groups of all rules with `by` that count a label, over all events. Of rules that count the
/// same in the same groups only the first one is named.
std::vector<GroupShare> group_shares(const AlertWatch& watch);

/// Returns one sentence for a message: "critical: negative (brand acme): share of label "negative" is ...".
std::string sentence_of(const AlertRule& rule, const Alert& alert);
/// Returns a value of the rule: "47.1 %", "+23.4 points", "3.40 times".
std::string value_text(const AlertRule& rule, double value);
/// Returns an interval of such values without their unit: "40.0 to 45.2".
std::string interval_text(const AlertRule& rule, const analysis::Interval& interval);
/// Returns the bound: "above 40 %", "rise above 20 points", "below 0.5 times".
std::string bound_text(const AlertRule& rule);
/// Returns what the value is compared with: "the window before"; "" for a share.
std::string reference_text(const AlertRule& rule);

}  // namespace encore::monitor
