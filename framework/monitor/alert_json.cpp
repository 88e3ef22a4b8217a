// SPDX-License-Identifier: BSD-3-Clause
// Writes alerts as JSON and as words. Scripts read the JSON: add members, but never rename one. Numbers that
// are not finite, such as a factor without items in the reference, are null. Read alert_json.hpp first.
#include "monitor/alert_json.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include <nlohmann/json.hpp>

#include "base/nearest.hpp"
#include "monitor/alert_events.hpp"

namespace encore::monitor {
namespace {

using Json = nlohmann::ordered_json;

Json finite_or_null(double number) {
  return std::isfinite(number) ? Json(number) : Json();
}

std::string rounded(const char* format, double number) {
  char text[64];
  std::snprintf(text, sizeof text, format, number);
  return text;
}

Json measured_json(const AlertRule& rule, const Measured& measured) {
  Json json = {{"value", finite_or_null(measured.value)},
               {"low", finite_or_null(measured.interval.low)},
               {"high", finite_or_null(measured.interval.high)},
               {"items", measured.items}};
  if (rule.kind == AlertKind::share) return json;
  json["reference"] = finite_or_null(measured.reference);
  json["reference_items"] = measured.reference_items;
  return json;
}

/// Returns what the rule counts: `share of label "negative"`.
std::string subject_text(const AlertRule& rule) {
  if (rule.kind == AlertKind::volume) return "number of items";
  return "share of " + rule.field + " " + quoted_list(rule.values);
}

/// Returns whether both rules divide the events in the same way.
bool same_shares(const AlertRule& one, const AlertRule& other) {
  return one.field == other.field && one.values == other.values && one.by == other.by &&
         one.confidence == other.confidence;
}

Json skipped_json(const SkippedEvents& skipped) {
  Json json = {{"count", skipped.count}};
  if (skipped.count == 0) return json;
  json["first_id"] = skipped.first_id;
  json["first_time"] = skipped.first_time;
  return json;
}

Json rule_json(const AlertWatch& watch, std::size_t number) {
  const AlertRule& rule = watch.rules().rules[number];
  Json json = {{"name", rule.name},     {"level", name_of(rule.level)},  {"when", name_of(rule.kind)},
               {"window", rule.window}, {"bound", rule.bound},           {"above", rule.above},
               {"least", rule.least},   {"confidence", rule.confidence}, {"certain", rule.certain}};
  if (!rule.by.empty()) json["by"] = rule.by;
  if (rule.kind != AlertKind::volume) {
    json["field"] = rule.field;
    json["values"] = rule.values;
  }
  json["items"] = watch.counted(number).all;
  if (rule.kind != AlertKind::volume) json["counted"] = watch.counted(number).hits;
  return json;
}

}  // namespace

std::string sentence_of(const AlertRule& rule, const Alert& alert) {
  const Measured& measured = alert.at_raise;
  return std::string(name_of(rule.level)) + ": " + rule.name +
         (rule.by.empty() ? "" : " (" + rule.by + " " + alert.group + ")") + ": " + subject_text(rule) +
         (rule.kind == AlertKind::share ? " is " : " against " + reference_text(rule) + " is ") +
         value_text(rule, measured.value) + " (" + interval_text(rule, measured.interval) + "), " +
         bound_text(rule) + ", with " + std::to_string(measured.items) + " items until " +
         utc_text(alert.raised);
}

std::string value_text(const AlertRule& rule, double value) {
  switch (rule.kind) {
    case AlertKind::share:
      return rounded("%.1f %%", 100.0 * value);
    case AlertKind::change:
      return rounded("%+.1f points", 100.0 * value);
    case AlertKind::volume:
      break;
  }
  return std::isfinite(value) ? rounded("%.2f times", value) : "infinity times";
}

std::string interval_text(const AlertRule& rule, const analysis::Interval& interval) {
  const auto end = [&](double value) {
    const std::string text = value_text(rule, value);
    return text.substr(0, text.find(' '));
  };
  return end(interval.low) + " to " + end(interval.high);
}

std::string bound_text(const AlertRule& rule) {
  const std::string side = rule.above ? "above " : "below ";
  switch (rule.kind) {
    case AlertKind::share:
      return side + rounded("%.4g %%", 100.0 * rule.bound);
    case AlertKind::change:
      return side + rounded("%+.4g points", 100.0 * rule.bound);
    case AlertKind::volume:
      break;
  }
  return side + rounded("%.4g times", rule.bound);
}

std::string reference_text(const AlertRule& rule) {
  if (rule.kind == AlertKind::share) return "";
  switch (rule.against) {
    case AlertReference::before:
      return "the window before";
    case AlertReference::days:
      return "the same time of earlier days";
    case AlertReference::dev:
      break;
  }
  return "the development set";
}

std::vector<GroupShare> group_shares(const AlertWatch& watch) {
  const std::vector<AlertRule>& rules = watch.rules().rules;
  const auto repeats = [&](std::size_t number) {
    return std::any_of(rules.begin(), rules.begin() + static_cast<std::ptrdiff_t>(number),
                       [&](const AlertRule& other) { return same_shares(other, rules[number]); });
  };
  std::vector<GroupShare> shares;
  for (const GroupTotals& totals : watch.totals()) {
    const AlertRule& rule = rules[totals.rule];
    if (rule.kind == AlertKind::volume || totals.count.all == 0 || repeats(totals.rule)) continue;
    const EventCount& all = watch.counted(totals.rule);
    const analysis::ShareCount own = {.part = static_cast<double>(totals.count.hits),
                                      .all = static_cast<double>(totals.count.all)},
                               others = {.part = static_cast<double>(all.hits - totals.count.hits),
                                         .all = static_cast<double>(all.all - totals.count.all)};
    GroupShare share{.rule = totals.rule,
                     .group = totals.group,
                     .count = totals.count,
                     .share = analysis::share_interval(own, rule.confidence)};
    if (others.all > 0.0) {
      share.difference = own.share() - others.share();
      share.interval = analysis::share_difference_interval(own, others, rule.confidence);
    }
    shares.push_back(std::move(share));
  }
  return shares;
}

Json json_of(const AlertRule& rule, const Alert& alert) {
  Json json = {{"alert", rule.name}, {"level", name_of(rule.level)}, {"when", name_of(rule.kind)}};
  if (!rule.by.empty()) json["group"] = alert.group;
  json["raised"] = alert.raised;
  json["ended"] = alert.ended ? Json(*alert.ended) : Json();
  json["window"] = rule.window;
  json["bound"] = rule.bound;
  json.update(measured_json(rule, alert.at_raise));
  json["peak"] = measured_json(rule, alert.peak);
  json["text"] = sentence_of(rule, alert);
  return json;
}

Json json_of(const AlertWatch& watch) {
  Json rules = Json::array(), alerts = Json::array(), groups = Json::array();
  for (std::size_t number = 0; number < watch.rules().rules.size(); ++number)
    rules.push_back(rule_json(watch, number));
  for (const Alert& alert : watch.alerts()) alerts.push_back(json_of(watch.rules().rules[alert.rule], alert));
  for (const GroupShare& share : group_shares(watch)) {
    Json group = {{"alert", watch.rules().rules[share.rule].name},
                  {"group", share.group},
                  {"items", share.count.all},
                  {"counted", share.count.hits},
                  {"share", static_cast<double>(share.count.hits) / static_cast<double>(share.count.all)},
                  {"low", share.share.low},
                  {"high", share.share.high}};
    if (share.difference) {
      group["difference"] = *share.difference;
      group["difference_low"] = share.interval.low;
      group["difference_high"] = share.interval.high;
    }
    groups.push_back(std::move(group));
  }
  return {{"events",
           {{"count", watch.events()},
            {"first", watch.first() ? Json(*watch.first()) : Json()},
            {"newest", watch.newest() ? Json(*watch.newest()) : Json()},
            {"late", skipped_json(watch.late())},
            {"doubled", skipped_json(watch.doubled())}}},
          {"rules", std::move(rules)},
          {"alerts", std::move(alerts)},
          {"groups", std::move(groups)}};
}

}  // namespace encore::monitor
