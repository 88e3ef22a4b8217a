// SPDX-License-Identifier: BSD-3-Clause
// exp monitor --alerts: reads events from the database or from a file, lets AlertWatch evaluate them, prints
// the alerts, and passes each new one to the command of --on-alert. In a replay an alert is passed on while
// events are read; those of a served run are passed on once (monitor/sent_alerts.hpp). Titles of columns are
// names in CSV, so they stay.
#include "cli/monitor_alerts.hpp"

#include <algorithm>
#include <cmath>

#include <nlohmann/json.hpp>

#include "analysis/predictions.hpp"
#include "base/nearest.hpp"
#include "cli/table.hpp"
#include "cli/verbs.hpp"
#include "monitor/alert_events.hpp"
#include "monitor/alert_json.hpp"
#include "monitor/sent_alerts.hpp"
#include "record/text_reference.hpp"
#include "runner/worker_process.hpp"
#include "world/lease_clock.hpp"

namespace encore::cli {

namespace {

using Json = nlohmann::ordered_json;
using monitor::AlertRule;
using monitor::AlertWatch;

constexpr std::size_t most_group_rows = 20;

/// The run whose records or labels are used.
struct AlertedRun {
  store::RunRow row = {};
  std::filesystem::path folder = {};
  std::vector<record::DevAnswer> development = {};
};

/// Returns the fields and values of a run's answers.
monitor::KnownAnswers known_answers(const AlertedRun& run) {
  monitor::KnownAnswers known;
  for (const auto& [field, values] : record::classes_in(run.development))
    known[field] = {values.begin(), values.end()};
  if (const std::optional<record::TextReference> reference = record::find_reference(run.folder);
      reference && !reference->histograms.labels.empty()) {
    std::vector<std::string>& labels = known["label"];
    labels.clear();
    for (const auto& [label, count] : reference->histograms.labels) labels.push_back(label);
  }
  return known;
}

AlertedRun run_of(const app::App& app, store::Store& store, const app::MonitorRequest& request,
                  const monitor::AlertRules& rules) {
  AlertedRun run{.row = app::selected_run(app, store, app::selection_from(request.selection))};
  run.folder = store.run_folder(run.row.id);
  const std::vector<store::ArtifactRow> artifacts = store.read_artifacts(run.row.number);
  if (std::ranges::find(artifacts, record::dev_answers_file, &store::ArtifactRow::name) != artifacts.end())
    run.development = record::read_dev_answers(
        analysis::recorded_artifact(store, run.row, record::dev_answers_file));  // with its recorded hash
  monitor::require_known(rules, known_answers(run), run.row.name);
  return run;
}

/// Throws UsageError if a rule compares with the development set of a run, and there is none.
void require_development(const monitor::AlertRules& rules, const AlertedRun* run) {
  for (const AlertRule& rule : rules.rules) {
    if (rule.kind != monitor::AlertKind::change || rule.against != monitor::AlertReference::dev) continue;
    if (run != nullptr && !run->development.empty()) continue;
    throw app::UsageError(rule.at.text() + ": [[alert]] \"" + rule.name + "\" has against = \"dev\", but " +
                          (run == nullptr ? std::string("no run is named: name the run before --replay")
                                          : "run " + run->row.name + " has no answers to a development set") +
                          ", or use against = \"before\" or \"days\"");
  }
}

// --- output ---

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

void print_result(const app::MonitorRequest& request, Console& console, const std::string& source,
                  const AlertWatch& watch) {
  if (request.csv) return print_alert_csv(console, watch);
  if (!request.json) return print_watch(console, source, watch);
  Json json = {{"source", source}};
  json.update(monitor::json_of(watch));
  console.print(json);
}

/// Returns whether the command succeeded, or there is none.
bool send(const app::MonitorRequest& request, Console& console, const std::string& source,
          const AlertRule& rule, const monitor::Alert& alert) try {
  if (!request.on_alert) return true;
  Json json = {{"source", source}};
  json.update(monitor::json_of(rule, alert));
  console.out << std::flush;
  call_hook(console, *request.on_alert, json, std::chrono::seconds(request.alert_timeout));
  return true;
} catch (const Error& error) {
  console.noticed(error.what() + std::string("; the alert \"") + rule.name + "\" was not sent");
  return false;
}

// --- sources ---

/// Reports rules whose field or values no event had: a misspelt name would never raise an alert.
void notice_unseen(Console& console, const AlertWatch& watch, const monitor::EventReader& reader) {
  if (watch.events() == 0) return;
  const std::vector<std::string> names(reader.names().begin(), reader.names().end());
  for (std::size_t number = 0; number < watch.rules().rules.size(); ++number) {
    const AlertRule& rule = watch.rules().rules[number];
    const auto notice = [&](const config::Place& place, const std::string& missing,
                            const std::string& remedy) {
      console.noticed(
          printable(place.text() + ": [[alert]] \"" + rule.name + "\": no event has " + missing + remedy));
    };
    if (!rule.by.empty() && !reader.names().contains(rule.by))
      notice(rule.by_at, "the member \"" + rule.by + "\"", did_you_mean(rule.by, names));
    if (rule.kind == monitor::AlertKind::volume) continue;
    if (watch.counted(number).all == 0)
      notice(rule.field_at, "the member \"" + rule.field + "\"",
             did_you_mean(rule.field, names, "; they have " + quoted_list(names)));
    else if (watch.counted(number).hits == 0)
      for (const std::string& value : rule.values)
        notice(rule.values_at, "\"" + value + "\" in \"" + rule.field + "\"",
               did_you_mean(value, watch.seen_values(number)));
  }
}

/// Returns whether the request has a word or an option that selects runs.
bool names_run(const app::SelectionRequest& selection) {
  return !selection.runs.empty() || !selection.states.empty() || !selection.tags.empty() ||
         !selection.sweeps.empty() || selection.where || selection.promoted || selection.best;
}

int replay(const app::MonitorRequest& request, app::App& app, Console& console,
           const monitor::AlertRules& rules) {
  std::optional<AlertedRun> run;
  if (names_run(request.selection)) {
    store::Store store(app.database, store::OpenMode::read);
    run = run_of(app, store, request, rules);
  }
  require_development(rules, run ? &*run : nullptr);
  const std::string source = *request.replay == "-" ? "standard input" : *request.replay;
  bool sent = true;
  AlertWatch watch(rules,
                   run ? monitor::development_counts(rules, run->development)
                       : std::map<std::size_t, monitor::EventCount>(),
                   [&](const monitor::Alert& alert) {
                     sent = send(request, console, source, rules.rules[alert.rule], alert) && sent;
                   });
  monitor::EventReader reader(rules.fields(), source);
  console.each_line(*request.replay, [&](std::string_view line) {
    if (const std::optional<monitor::AlertEvent> event = reader.read(line)) watch.add(*event);
  });
  watch.finish();
  notice_unseen(console, watch, reader);
  print_result(request, console, source, watch);
  if (!sent) return exit_failed;
  return watch.alerts().empty() ? exit_done : exit_different;
}

int watch_records(const app::MonitorRequest& request, app::App& app, Console& console,
                  const monitor::AlertRules& rules) {
  store::Store store(app.database, store::OpenMode::write);
  const AlertedRun run = run_of(app, store, request, rules);
  require_development(rules, &run);
  const double now = world::now_seconds();
  const store::ServedMerge merge = store::merge_served(store, run.row, now);
  for (const std::string& problem : merge.problems) console.noticed(problem);
  AlertWatch watch(rules, monitor::development_counts(rules, run.development));
  const std::vector<std::string> fields = rules.fields();
  store::visit_served(store, run.row.number, [&](const store::ServedAnswer& answer) {
    watch.add(monitor::event_of(answer, fields));
  });
  if (watch.events() == 0 && !request.json && !request.csv) {
    console.out << "nothing is stored about inputs of run " << run.row.name << " yet; start "
                << console.suggestion({"serve", run.row.name, "--monitor"}) << '\n';
    return exit_done;
  }
  // Servers write a record when they answer, so those of the time before `late` are all there.
  watch.advance_to(static_cast<std::int64_t>(std::floor(now)) - rules.late);
  print_result(request, console, run.row.name, watch);
  const std::vector<monitor::Alert> alerts = watch.alerts();
  bool is_raised = std::ranges::any_of(alerts, [](const monitor::Alert& alert) { return !alert.ended; });
  if (request.on_alert && !alerts.empty()) {
    monitor::SentAlerts known(run.folder / store::served_folder);
    for (const monitor::Alert& alert : alerts) {
      const AlertRule& rule = rules.rules[alert.rule];
      if (known.contains(rule, alert)) continue;
      if (!send(request, console, run.row.name, rule, alert)) return exit_failed;
      known.add(rule, alert);
      is_raised = true;
    }
  }
  return is_raised ? exit_different : exit_done;
}

}  // namespace

void call_hook(Console& console, const std::string& command, const Json& json,
               std::chrono::seconds patience) {
  const runner::ProgramOutput output =
      runner::run_program("/bin/sh", {"-c", command}, json.dump() + "\n", {.timeout = patience});
  console.relayed(output.output + output.errors);
  if (output.silent)
    throw Error("the command of --on-alert was stopped: it printed nothing for " +
                std::to_string(patience.count()) + " s (--alert-timeout)");
  if (!output.end.success()) throw Error("the command of --on-alert ended with " + output.end.text());
}

int watch_alerts(const app::MonitorRequest& request, app::App& app, Console& console) {
  const monitor::AlertRules rules = monitor::load_alerts(*request.alerts);
  return request.replay ? replay(request, app, console, rules) : watch_records(request, app, console, rules);
}

}  // namespace encore::cli
