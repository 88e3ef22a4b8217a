// SPDX-License-Identifier: BSD-3-Clause
// exp monitor --alerts: reads events from the database or from a file, lets AlertWatch evaluate them, prints
// the alerts (alert_tables.cpp), and passes each new one to the command of --on-alert. In a replay an alert
// is passed on while events are read; those of a served run are passed on once (monitor/sent_alerts.hpp).
// With --follow the process keeps its AlertWatch and reads only what is new, once a second.
#include "cli/monitor_alerts.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>
#include <set>
#include <thread>
#include <utility>

#include <nlohmann/json.hpp>

#include "analysis/predictions.hpp"
#include "base/nearest.hpp"
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
  print_alerts(request, console, source, watch);
  if (!sent) return exit_failed;
  return watch.alerts().empty() ? exit_done : exit_different;
}

/// The alerts of a served run: merges new records, evaluates the rules over them, and sends alerts.
class ServedAlerts {
 public:
  ServedAlerts(const app::MonitorRequest& request, const app::App& app, Console& console,
               const monitor::AlertRules& rules)
      : request_(request),
        console_(console),
        store_(app.database, store::OpenMode::write),
        run_(run_of(app, store_, request, rules)),
        fields_(rules.fields()) {
    require_development(rules, &run_);
    begin(rules);
  }

  const AlertWatch& watch() const { return *watch_; }
  const std::string& run() const { return run_.row.name; }
  /// Returns whether an alert continues, or one was sent.
  bool alerted() const {
    return has_sent_ ||
           std::ranges::any_of(watch_->alerts(), [](const monitor::Alert& alert) { return !alert.ended; });
  }

  /// Evaluates all records that servers have written until now.
  void read() {
    const double now = world::now_seconds();
    for (const std::string& problem : store::merge_served(store_, run_.row, now).problems)
      if (noticed_.insert(problem).second) console_.noticed(problem);
    const auto add = [&](const store::ServedAnswer& answer) {
      watch_->add(monitor::event_of(answer, fields_));
    };
    if (!store::visit_served(store_, run_.row.number, place_, add)) {
      begin(monitor::AlertRules(watch_->rules()));
      store::visit_served(store_, run_.row.number, place_, add);
    }
    // Servers write a record when they answer, so those of the time before `late` are all there.
    watch_->advance_to(static_cast<std::int64_t>(std::floor(now)) - watch_->rules().late);
  }

  /// Locks the record of sent alerts until this object ends, so that no other process sends alerts of the
  /// run.
  void lock_sent() {
    const std::filesystem::path folder = run_.folder / store::served_folder;
    store::make_served_folder(folder);  // a server makes it with its first record
    sent_.emplace(folder);
  }
  /// Passes each alert that was not sent yet to the command of --on-alert. Returns false at the first one
  /// that fails.
  bool send_new() {
    if (!request_.on_alert || watch_->alerts().empty()) return true;
    if (!sent_) lock_sent();
    for (const monitor::Alert& alert : watch_->alerts()) {
      const AlertRule& rule = watch_->rules().rules[alert.rule];
      if (sent_->contains(rule, alert)) continue;
      if (!send(request_, console_, run(), rule, alert)) return false;
      sent_->add(rule, alert);
      has_sent_ = true;
    }
    return true;
  }

  /// Prints which alerts were raised and which have ended since the last call.
  void print_changes() {
    std::vector<std::pair<std::int64_t, monitor::Alert>> changes;
    for (const monitor::Alert& alert : watch_->alerts()) {
      const std::tuple key(alert.raised, alert.rule, alert.group);
      const auto [printed, is_new] = printed_.try_emplace(key, false);
      if (is_new) {
        changes.emplace_back(alert.raised, alert);
        changes.back().second.ended.reset();
      }
      if (alert.ended && !std::exchange(printed->second, true)) changes.emplace_back(*alert.ended, alert);
    }
    std::ranges::stable_sort(changes, {}, [](const auto& change) { return change.first; });
    for (const auto& [time, alert] : changes)
      print_change(request_, console_, run(), watch_->rules().rules[alert.rule], alert);
  }

 private:
  void begin(const monitor::AlertRules& rules) {
    place_ = {};
    watch_.emplace(rules, monitor::development_counts(rules, run_.development));
  }

  using Key = std::tuple<std::int64_t, std::size_t, std::string>;  ///< time, rule and group of an alert

  const app::MonitorRequest& request_;
  Console& console_;
  store::Store store_;
  AlertedRun run_;
  std::vector<std::string> fields_;
  std::optional<AlertWatch> watch_;
  std::optional<monitor::SentAlerts> sent_;
  store::ServedPlace place_;
  std::map<Key, bool> printed_;  ///< alerts that were printed as raised; true: as ended too
  std::set<std::string> noticed_;
  bool has_sent_ = false;
};

int watch_records(const app::MonitorRequest& request, app::App& app, Console& console,
                  const monitor::AlertRules& rules) {
  ServedAlerts alerts(request, app, console, rules);
  alerts.read();
  if (alerts.watch().events() == 0 && !request.json && !request.csv) {
    console.out << "nothing is stored about inputs of run " << alerts.run() << " yet; start "
                << console.suggestion({"serve", alerts.run(), "--monitor"}) << '\n';
    return exit_done;
  }
  print_alerts(request, console, alerts.run(), alerts.watch());
  if (!alerts.send_new()) return exit_failed;
  return alerts.alerted() ? exit_different : exit_done;
}

/// Waits for a second, or until the user asks to stop.
void wait_a_second() {
  constexpr std::chrono::milliseconds whole(1000), part(50);
  for (std::chrono::milliseconds waited(0); waited < whole && stop_requests() == 0; waited += part)
    std::this_thread::sleep_for(part);
}

int follow_records(const app::MonitorRequest& request, app::App& app, Console& console,
                   const monitor::AlertRules& rules) {
  constexpr int seconds_between_tries = 60;
  ServedAlerts alerts(request, app, console, rules);
  if (request.on_alert) alerts.lock_sent();
  listen_for_stop_requests();
  console.noticed("evaluating the alerts of run " + alerts.run() + " each second until Ctrl-C");
  bool sent = true;
  for (int wait = 0;; wait = std::max(0, wait - 1)) {
    alerts.read();
    alerts.print_changes();
    if (wait == 0 && !(sent = alerts.send_new())) wait = seconds_between_tries;
    if (stop_requests() > 0) break;
    wait_a_second();
  }
  if (!sent) return exit_failed;
  return alerts.alerted() ? exit_different : exit_done;
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
  if (request.replay) return replay(request, app, console, rules);
  return request.follow ? follow_records(request, app, console, rules)
                        : watch_records(request, app, console, rules);
}

}  // namespace encore::cli
