// SPDX-License-Identifier: BSD-3-Clause
// Evaluates alerts: counts events in the windows of each rule and group, compares shares, changes and volumes
// with their bounds, and keeps the state of each alert (raised, continuing, ended). cli/monitor_alerts.cpp
// passes the events. Users compare alerts of a replay with those that were sent, so the conditions under
// which an alert is raised or ends must not change. Read alert_watch.hpp first.
#include "monitor/alert_watch.hpp"

#include <algorithm>
#include <cmath>

namespace encore::monitor {
namespace {

constexpr std::int64_t seconds_of_a_day = 86400;
constexpr std::size_t most_seen_values = 100;

/// Returns the windows of a rule: its own first, then those of its reference.
std::vector<TrailingWindow> windows_of(const AlertRule& rule) {
  std::vector<TrailingWindow> windows = {{.from = rule.window, .to = 0}};
  if (rule.kind == AlertKind::share || rule.against == AlertReference::dev) return windows;
  if (rule.against == AlertReference::before)
    windows.push_back({.from = 2 * rule.window, .to = rule.window});
  else
    for (std::int64_t day = 1; day <= rule.days; ++day)
      windows.push_back({.from = day * seconds_of_a_day + rule.window, .to = day * seconds_of_a_day});
  return windows;
}

std::optional<std::size_t> place_of(const std::vector<std::string>& names, const std::string& name) {
  const auto found = std::ranges::find(names, name);
  if (name.empty() || found == names.end()) return {};
  return static_cast<std::size_t>(found - names.begin());
}

analysis::ShareCount share_of(const EventCount& count) {
  return {.part = static_cast<double>(count.hits), .all = static_cast<double>(count.all)};
}

bool is_beyond(const AlertRule& rule, double value) {
  return rule.above ? value > rule.bound : value < rule.bound;
}

void skip(SkippedEvents& skipped, const AlertEvent& event) {
  if (skipped.count++ > 0) return;
  skipped.first_id = event.id;
  skipped.first_time = event.time;
}

}  // namespace

AlertWatch::AlertWatch(AlertRules rules, std::map<std::size_t, EventCount> development, Raised raised)
    : rules_(std::move(rules)), development_(std::move(development)), raised_(std::move(raised)) {
  const std::vector<std::string> fields = rules_.fields();
  for (const AlertRule& rule : rules_.rules) {
    watches_.push_back({.windows = windows_of(rule),
                        .field = place_of(fields, rule.field),
                        .by = place_of(fields, rule.by),
                        .values = {rule.values.begin(), rule.values.end()}});
    id_span_ = std::max(id_span_, rule.window);
  }
  id_span_ += rules_.late + 1;
}

// --- adding events ---

void AlertWatch::add(const AlertEvent& event) {
  if (newest_ && (event.time < *newest_ - static_cast<double>(rules_.late) ||
                  event.time < static_cast<double>(evaluated_)))
    return skip(late_, event);
  if (is_doubled(event)) return skip(doubled_, event);
  ++events_;
  first_ = std::min(first_.value_or(event.time), event.time);
  newest_ = std::max(newest_.value_or(event.time), event.time);
  const auto second = static_cast<std::int64_t>(std::floor(event.time));
  for (std::size_t rule = 0; rule < watches_.size(); ++rule) add_to(rule, event, second);
  advance_to(static_cast<std::int64_t>(std::floor(*newest_)) - rules_.late);
}

/// An id is remembered for at least the longest window and the time in which an event may be late.
bool AlertWatch::is_doubled(const AlertEvent& event) {
  if (event.id.empty()) return false;
  const auto generation = static_cast<std::int64_t>(event.time) / id_span_;
  if (generation > id_generation_) {
    older_ids_ = generation == id_generation_ + 1 ? std::move(ids_) : std::unordered_set<std::string>();
    ids_.clear();
    id_generation_ = generation;
  }
  if (older_ids_.contains(event.id)) return true;
  return !ids_.insert(event.id).second;
}

void AlertWatch::add_to(std::size_t rule, const AlertEvent& event, std::int64_t second) {
  Watch& watch = watches_[rule];
  bool hit = false;
  if (watch.field) {
    const auto& values = event.values.at(*watch.field);
    if (!values) return;
    for (const std::string& value : *values) {
      hit = hit || watch.values.contains(value);
      if (watch.seen.size() < most_seen_values) watch.seen.insert(value);
    }
  }
  ++watch.total.all;
  watch.total.hits += hit ? 1 : 0;
  Group& group = group_of(watch, event);
  ++group.total.all;
  group.total.hits += hit ? 1 : 0;
  group.counts.add(second, hit);
  plan(rule, static_cast<std::size_t>(&group - watch.groups.data()), group.counts.next_change());
}

AlertWatch::Group& AlertWatch::group_of(Watch& watch, const AlertEvent& event) {
  std::string name;
  if (watch.by) {
    const auto& values = event.values.at(*watch.by);
    name = values && !values->empty() ? values->front() : no_group;
    if (watch.groups.size() >= most_groups && !watch.numbers.contains(name)) name = other_groups;
  }
  const auto [found, is_new] = watch.numbers.try_emplace(name, watch.groups.size());
  if (is_new) watch.groups.push_back({.name = name, .counts = TrailingCounts(watch.windows)});
  return watch.groups[found->second];
}

// --- evaluating ---

void AlertWatch::plan(std::size_t rule, std::size_t group, std::int64_t time) {
  Group& of = watches_[rule].groups[group];
  if (time >= of.due) return;
  of.due = time;
  due_.push({.time = time, .rule = rule, .group = group});
}

void AlertWatch::advance_to(std::int64_t now) {
  while (!due_.empty() && due_.top().time <= now) {
    const Due due = due_.top();
    due_.pop();
    Group& group = watches_[due.rule].groups[due.group];
    if (due.time != group.due) continue;  // replaced by an earlier one
    group.due = TrailingCounts::never;
    evaluate(due);
  }
  evaluated_ = std::max(evaluated_, now);
}

void AlertWatch::finish() {
  if (newest_) advance_to(static_cast<std::int64_t>(std::floor(*newest_)) + 1);
}

void AlertWatch::evaluate(const Due& due) {
  const AlertRule& rule = rules_.rules[due.rule];
  Group& group = watches_[due.rule].groups[due.group];
  group.counts.advance_to(due.time);
  const std::optional<Measured> found = measure(due.rule, group, due.time);
  const bool beyond = found && is_beyond(rule, found->value);
  std::int64_t next = group.counts.next_change();
  if (!group.open && beyond) {
    Measured measured = *found;
    measured.interval = interval_of(due.rule, group, due.time);
    const double end = rule.above ? measured.interval.low : measured.interval.high;
    if (!rule.certain || is_beyond(rule, end)) {
      group.open = alerts_.size();
      group.back.reset();
      alerts_.push_back({.rule = due.rule,
                         .group = group.name,
                         .raised = due.time,
                         .at_raise = measured,
                         .peak = measured});
      if (raised_) raised_(alerts_.back());
    }
  } else if (group.open && beyond) {
    Alert& alert = alerts_[*group.open];
    group.back.reset();
    if (rule.above ? found->value > alert.peak.value : found->value < alert.peak.value) {
      alert.peak = *found;
      alert.peak.interval = interval_of(due.rule, group, due.time);
    }
  } else if (group.open) {
    if (!group.back) group.back = due.time;
    if (due.time - *group.back >= rule.hold) {
      alerts_[*group.open].ended = due.time;
      group.open.reset();
    } else {
      next = std::min(next, *group.back + rule.hold);
    }
  }
  plan(due.rule, due.group, next);
}

double AlertWatch::reference_windows(const AlertRule& rule, std::int64_t now) const {
  const auto begin = static_cast<std::int64_t>(std::floor(first_.value_or(0.0)));
  if (rule.against == AlertReference::before) return now - 2 * rule.window >= begin ? 1.0 : 0.0;
  const std::int64_t days = (now - rule.window - begin) / seconds_of_a_day;
  return static_cast<double>(std::clamp<std::int64_t>(days, 0, rule.days));
}

EventCount AlertWatch::reference_count(std::size_t rule, const Group& group) const {
  if (rules_.rules[rule].against == AlertReference::dev) return development_.at(rule);
  EventCount sum;
  for (std::size_t window = 1; window < watches_[rule].windows.size(); ++window) {
    sum.all += group.counts.in(window).all;
    sum.hits += group.counts.in(window).hits;
  }
  return sum;
}

std::optional<Measured> AlertWatch::measure(std::size_t number, const Group& group, std::int64_t now) const {
  const AlertRule& rule = rules_.rules[number];
  const EventCount& count = group.counts.in(0);
  Measured measured{.items = count.all};
  if (rule.kind == AlertKind::share) {
    if (count.all < rule.least) return {};
    measured.value = share_of(count).share();
    return measured;
  }
  const EventCount reference = reference_count(number, group);
  measured.reference_items = reference.all;
  if (rule.kind == AlertKind::change) {
    if (count.all < rule.least || reference.all < rule.least) return {};
    measured.reference = share_of(reference).share();
    measured.value = share_of(count).share() - measured.reference;
    return measured;
  }
  const double windows = reference_windows(rule, now);
  if (windows == 0.0) return {};
  measured.reference = static_cast<double>(reference.all) / windows;
  const double enough = rule.above ? static_cast<double>(count.all) : measured.reference;
  if (enough < static_cast<double>(rule.least)) return {};
  measured.value = static_cast<double>(count.all) / measured.reference;
  return measured;
}

analysis::Interval AlertWatch::interval_of(std::size_t number, const Group& group, std::int64_t now) const {
  const AlertRule& rule = rules_.rules[number];
  const EventCount& count = group.counts.in(0);
  if (rule.kind == AlertKind::share) return analysis::share_interval(share_of(count), rule.confidence);
  const EventCount reference = reference_count(number, group);
  if (rule.kind == AlertKind::change)
    return analysis::share_difference_interval(share_of(count), share_of(reference), rule.confidence);
  return analysis::rate_ratio_interval(static_cast<double>(count.all), static_cast<double>(reference.all),
                                       reference_windows(rule, now), rule.confidence);
}

// --- results ---

std::vector<Alert> AlertWatch::alerts() const {
  std::vector<Alert> sorted = alerts_;
  std::ranges::sort(sorted, {},
                    [](const Alert& alert) { return std::tuple(alert.raised, alert.rule, alert.group); });
  return sorted;
}

std::vector<GroupTotals> AlertWatch::totals() const {
  std::vector<GroupTotals> all;
  for (std::size_t rule = 0; rule < watches_.size(); ++rule) {
    if (!watches_[rule].by) continue;
    for (const Group& group : watches_[rule].groups)
      all.push_back({.rule = rule, .group = group.name, .count = group.total});
  }
  std::ranges::sort(all, {}, [](const GroupTotals& totals) { return std::tuple(totals.rule, totals.group); });
  return all;
}

std::vector<std::string> AlertWatch::seen_values(std::size_t rule) const {
  std::vector<std::string> values(watches_[rule].seen.begin(), watches_[rule].seen.end());
  std::ranges::sort(values);
  return values;
}

}  // namespace encore::monitor
