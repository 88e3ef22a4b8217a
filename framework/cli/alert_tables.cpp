// SPDX-License-Identifier: BSD-3-Clause
// Writes the alerts of exp monitor --alerts: tables for people, CSV, JSON, and a line for each change while
// alerts are followed. Read monitor_alerts.hpp first. Titles of columns are names in CSV, so they stay.
#include <algorithm>
#include <cmath>

#include <nlohmann/json.hpp>

#include "base/nearest.hpp"
#include "cli/monitor_alerts.hpp"
#include "cli/table.hpp"
#include "monitor/alert_events.hpp"
#include "monitor/alert_json.hpp"

namespace encore::cli {

namespace {

using Json = nlohmann::ordered_json;
using monitor::AlertRule;
using monitor::AlertWatch;

constexpr std::size_t most_group_rows = 20;

std::string time_cell(std::int64_t seconds) {
  return monitor::utc_text(seconds);
}

void print_alert_table(Console& console, const AlertWatch& watch) {
  Table table({{"LEVEL"},
               {"ALERT"},
               {"GROUP"},
               {"RAISED"},
               {"ENDED"},
               {"VALUE", Align::right},
               {"INTERVAL", Align::right},
               {"PEAK", Align::right},
               {"ITEMS", Align::right},
               {"BOUND", Align::left, true}});
  for (const monitor::Alert& alert : watch.alerts()) {
    const AlertRule& rule = watch.rules().rules[alert.rule];
    table.add(
        {name_of(rule.level), rule.name, rule.by.empty() ? "-" : alert.group, time_cell(alert.raised),
         alert.ended ? time_cell(*alert.ended) : "continues", monitor::value_text(rule, alert.at_raise.value),
         monitor::interval_text(rule, alert.at_raise.interval), monitor::value_text(rule, alert.peak.value),
         std::to_string(alert.at_raise.items), monitor::bound_text(rule)});
  }
  if (table.empty()) {
    console.out << "no alert\n";
    return;
  }
  table.print(console.out, console.terminal);
}

void print_alert_csv(Console& console, const AlertWatch& watch) {
  Table table({{"LEVEL"},
               {"ALERT"},
               {"GROUP"},
               {"RAISED"},
               {"ENDED"},
               {"WHEN"},
               {"VALUE"},
               {"LOW"},
               {"HIGH"},
               {"PEAK"},
               {"BOUND"},
               {"ITEMS"}});
  const auto number = [](double value) {
    return std::isfinite(value) ? Json(value).dump() : std::string("-");
  };
  for (const monitor::Alert& alert : watch.alerts()) {
    const AlertRule& rule = watch.rules().rules[alert.rule];
    table.add({name_of(rule.level), rule.name, rule.by.empty() ? "-" : alert.group, time_cell(alert.raised),
               alert.ended ? time_cell(*alert.ended) : "-", name_of(rule.kind), number(alert.at_raise.value),
               number(alert.at_raise.interval.low), number(alert.at_raise.interval.high),
               number(alert.peak.value), number(rule.bound), std::to_string(alert.at_raise.items)});
  }
  table.print_csv(console.out);
}

/// Prints the groups of each rule, those with most items first.
void print_groups(Console& console, const AlertWatch& watch) {
  std::vector<monitor::GroupShare> shares = monitor::group_shares(watch);
  std::ranges::stable_sort(shares, [](const auto& a, const auto& b) {
    return std::tuple(a.rule, -a.count.all) < std::tuple(b.rule, -b.count.all);
  });
  for (auto first = shares.begin(); first != shares.end();) {
    const auto last =
        std::find_if(first, shares.end(), [&](const auto& share) { return share.rule != first->rule; });
    const AlertRule& rule = watch.rules().rules[first->rule];
    console.out << "\nall events by " << printable(rule.by) << ": share of " << printable(rule.field) << ' '
                << printable(quoted_list(rule.values)) << "; intervals at "
                << Json(100.0 * rule.confidence).dump() << " %\n";
    Table table({{"GROUP"},
                 {"ITEMS", Align::right},
                 {"SHARE", Align::right},
                 {"INTERVAL", Align::right},
                 {"MINUS OTHERS", Align::right},
                 {"INTERVAL OF IT", Align::right}});
    const auto rows = std::min<std::ptrdiff_t>(last - first, most_group_rows);
    for (auto share = first; share != first + rows; ++share) {
      const double value = static_cast<double>(share->count.hits) / static_cast<double>(share->count.all);
      table.add({share->group, std::to_string(share->count.all), percent(value) + " %",
                 percent(share->share.low) + " to " + percent(share->share.high),
                 share->difference ? fixed(100.0 * *share->difference, 1) : "-",
                 share->difference
                     ? fixed(100.0 * share->interval.low, 1) + " to " + fixed(100.0 * share->interval.high, 1)
                     : "-"});
    }
    table.print(console.out, console.terminal, 2);
    if (rows < last - first) console.out << "  and " << (last - first - rows) << " smaller groups\n";
    first = last;
  }
}

std::string skipped_text(const monitor::SkippedEvents& skipped, const std::string& what) {
  if (skipped.count == 0) return "";
  return "; " + std::to_string(skipped.count) + " " + what +
         " (the first: " + (skipped.first_id.empty() ? "" : "\"" + printable(skipped.first_id) + "\" of ") +
         monitor::utc_text(static_cast<std::int64_t>(skipped.first_time)) + ")";
}

void print_watch(Console& console, const std::string& source, const AlertWatch& watch) {
  console.out << printable(source) << ": " << watch.events() << " events";
  if (watch.first())
    console.out << " from " << monitor::utc_text(static_cast<std::int64_t>(*watch.first())) << " to "
                << monitor::utc_text(static_cast<std::int64_t>(*watch.newest()));
  console.out << skipped_text(watch.late(), "late by more than " + std::to_string(watch.rules().late) +
                                                " s and not counted")
              << skipped_text(watch.doubled(), "doubled and counted once") << "\n\n";
  print_alert_table(console, watch);
  print_groups(console, watch);
}

}  // namespace

void print_alerts(const app::MonitorRequest& request, Console& console, const std::string& source,
                  const AlertWatch& watch) {
  if (request.csv) return print_alert_csv(console, watch);
  if (!request.json) return print_watch(console, source, watch);
  Json json = {{"source", source}};
  json.update(monitor::json_of(watch));
  console.print(json);
}

void print_change(const app::MonitorRequest& request, Console& console, const std::string& source,
                  const AlertRule& rule, const monitor::Alert& alert) {
  if (request.json) {
    Json json = {{"event", alert.ended ? "ended" : "raised"}, {"source", source}};
    json.update(monitor::json_of(rule, alert));
    console.out << json.dump(-1, ' ', false, Json::error_handler_t::replace) << std::endl;
    return;
  }
  console.out << time_cell(alert.ended.value_or(alert.raised)) << (alert.ended ? "  ended   " : "  raised  ")
              << printable(monitor::sentence_of(rule, alert)) << std::endl;
}

}  // namespace encore::cli
