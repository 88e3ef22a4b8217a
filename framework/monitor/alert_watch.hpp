// SPDX-License-Identifier: BSD-3-Clause
// AlertWatch evaluates the rules of a user (alert_rules.hpp) over events in event time: which alerts are
// raised, continue and end. Place in the flow: `exp monitor` reads events from the database or from a file
// (alert_events.hpp) -> here -> cli/monitor_alerts.cpp. The alerts are a pure function of the events: they
// depend neither on the batches in which events come, nor on their order as long as none is late. Read next:
// trailing_counts.hpp.
//
// A window that ends at T has the events before T. It is evaluated for each second T at which one of its
// counts changes, once an event has come that is `late` seconds newer, so that no event that counts is
// missing. A decision is never revised.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <queue>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "analysis/shares.hpp"
#include "monitor/alert_rules.hpp"
#include "monitor/trailing_counts.hpp"

namespace encore::monitor {

/// The field of an event that names its group in the records of a server.
inline constexpr const char* group_field = "group";

/// An item that was answered.
struct AlertEvent {
  double time = 0.0;    ///< seconds since 1970
  std::string id = {};  ///< an id counts once; "": the event counts in any case
  /// The values of the event in the fields that AlertRules::fields() names, in its order. An event may lack
  /// a field, or have none, one or several values in it.
  std::vector<std::optional<std::vector<std::string>>> values = {};
};

/// What a rule compares with its bound, and how certain that is.
struct Measured {
  std::int64_t items = 0;            ///< in the window
  std::int64_t reference_items = 0;  ///< in the reference; 0 for a share
  double value = 0.0;                ///< a share, a difference of shares, or a factor
  double reference = 0.0;            ///< the share or the expected number of items of the reference
  analysis::Interval interval = {};  ///< of the value
};

struct Alert {
  std::size_t rule = 0;  ///< its place in the rules
  std::string group = {};
  std::int64_t raised = 0;                 ///< end of the window, in seconds since 1970
  std::optional<std::int64_t> ended = {};  ///< nothing: it continues
  Measured at_raise = {}, peak = {};
};

/// Events that were not counted.
struct SkippedEvents {
  std::int64_t count = 0;
  std::string first_id = {};
  double first_time = 0.0;
};

/// All events of a group for a rule with `by`.
struct GroupTotals {
  std::size_t rule = 0;
  std::string group = {};
  EventCount count = {};
};

class AlertWatch {
 public:
  /// Called when an alert is raised, in event time.
  using Raised = std::function<void(const Alert& alert)>;

  /// `development` has the answers to the development set for each rule that compares with it, by the place
  /// of the rule. Groups beyond `most_groups` of a rule are counted together as other_groups.
  explicit AlertWatch(AlertRules rules, std::map<std::size_t, EventCount> development = {},
                      Raised raised = {});

  void add(const AlertEvent& event);
  /// States that all events before `now` have come, and evaluates until then.
  void advance_to(std::int64_t now);
  /// Evaluates until the second after the newest event: no other event will come.
  void finish();

  /// The following describe what was added and evaluated so far. Alerts are in the order of their time, then
  /// of the rules and groups.
  std::vector<Alert> alerts() const;
  std::vector<GroupTotals> totals() const;
  const AlertRules& rules() const { return rules_; }
  std::int64_t events() const { return events_; }
  const std::optional<double>& first() const { return first_; }
  const std::optional<double>& newest() const { return newest_; }
  const SkippedEvents& late() const { return late_; }
  const SkippedEvents& doubled() const { return doubled_; }
  /// Returns the events with the field of a rule, and how many of them the rule counts.
  const EventCount& counted(std::size_t rule) const { return watches_[rule].total; }
  /// Returns values of the field of a rule that events had, at most a hundred.
  std::vector<std::string> seen_values(std::size_t rule) const;

  static constexpr std::size_t most_groups = 1000;
  static constexpr const char* other_groups = "(other groups)";
  static constexpr const char* no_group = "(none)";

 private:
  /// One group of one rule.
  struct Group {
    std::string name;
    TrailingCounts counts;
    EventCount total = {};
    std::optional<std::size_t> open = {};      ///< place in alerts_
    std::optional<std::int64_t> back = {};     ///< since when the value is within the bound
    std::int64_t due = TrailingCounts::never;  ///< the earliest entry in `due` of the watch
  };
  struct Watch {
    std::vector<TrailingWindow> windows = {};
    std::optional<std::size_t> field = {}, by = {};  ///< places in AlertEvent::values
    std::unordered_set<std::string> values = {};
    EventCount total = {};
    std::unordered_map<std::string, std::size_t> numbers = {};  ///< of groups
    std::vector<Group> groups = {};
    std::unordered_set<std::string> seen = {};
  };
  struct Due {
    std::int64_t time;
    std::size_t rule, group;
    auto operator<=>(const Due&) const = default;
  };

  bool is_doubled(const AlertEvent& event);
  void add_to(std::size_t rule, const AlertEvent& event, std::int64_t second);
  Group& group_of(Watch& watch, const AlertEvent& event);
  void plan(std::size_t rule, std::size_t group, std::int64_t time);
  void evaluate(const Due& due);
  /// Returns what the rule compares; nothing if there are too few items. The interval is not computed.
  std::optional<Measured> measure(std::size_t rule, const Group& group, std::int64_t now) const;
  analysis::Interval interval_of(std::size_t rule, const Group& group, std::int64_t now) const;
  /// Returns for how many windows of a rule's reference there were events from the beginning on.
  double reference_windows(const AlertRule& rule, std::int64_t now) const;
  EventCount reference_count(std::size_t rule, const Group& group) const;

  AlertRules rules_;
  std::map<std::size_t, EventCount> development_;
  Raised raised_;
  std::vector<Watch> watches_;
  std::priority_queue<Due, std::vector<Due>, std::greater<>> due_;
  std::vector<Alert> alerts_;
  std::int64_t events_ = 0;
  std::optional<double> first_, newest_;
  std::int64_t evaluated_ = 0;  ///< everything before this time is decided
  SkippedEvents late_, doubled_;
  /// Ids of the newest events, in two generations: those of the current span of time and of the one before.
  std::unordered_set<std::string> ids_, older_ids_;
  std::int64_t id_span_ = 0, id_generation_ = 0;
};

}  // namespace encore::monitor
