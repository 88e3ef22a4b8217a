// SPDX-License-Identifier: BSD-3-Clause
// exp monitor: compares the numbers that servers stored about the inputs of a run's model with the
// development set (monitor/), or evaluates alerts of the user (monitor_alerts.cpp). It is linked into the
// program exp-serve, which exp becomes for this verb (serve_main.cpp). An alert sets exit code 3 and runs
// the user's command with the JSON as its input; scripts depend on both, so members keep their names.
#include <cmath>

#include <nlohmann/json.hpp>

#include "app/serving_requests.hpp"
#include "cli/components.hpp"
#include "cli/monitor_alerts.hpp"
#include "cli/table.hpp"
#include "monitor/monitoring.hpp"
#include "world/lease_clock.hpp"

namespace encore::cli {

namespace {

using Json = nlohmann::ordered_json;

std::string mean_text(const std::optional<double>& value) {
  if (!value) return "-";
  return fixed(*value, *value >= 10.0 ? 1 : 3);
}

/// Returns the evidence, a factor on the initial stake of the bets: "1", "38", "10^12".
std::string evidence_text(double log10_evidence) {
  if (log10_evidence >= 6.0) return "10^" + fixed(std::floor(log10_evidence), 0);
  return fixed(std::pow(10.0, log10_evidence), log10_evidence < 1.0 ? 1 : 0);
}

std::string milliseconds(double seconds) {
  return fixed(1000.0 * seconds, 1) + " ms";
}

Table table_of(const monitor::Monitoring& said) {
  Table table({{"MEASURE"},
               {"REFERENCE", Align::right},
               {"LIVE", Align::right},
               {"PSI", Align::right},
               {"JS", Align::right},
               {"EVIDENCE", Align::right}});
  for (const monitor::MeasuredShift& each : said.measures)
    table.add({each.name, mean_text(each.reference), mean_text(each.live), fixed(each.shift.psi, 3),
               fixed(each.shift.js, 3), evidence_text(each.log10_evidence)});
  table.add({"all", "", "", "", "", evidence_text(said.log10_evidence)});
  return table;
}

void print_texts(Console& console, const std::string& run, const monitor::Monitoring& said) {
  std::ostream& out = console.out;
  out << printable(run) << ": " << said.texts << " inputs from " << time_text(said.first) << " to "
      << time_text(said.last);
  if (said.window < said.texts) out << "; the table describes the last " << said.window;
  out << "\nreference: " << said.reference_texts << " inputs of " << printable(said.source) << "\n\n";
  table_of(said).print(out, console.terminal, 2);

  out << "\n  shift     ";
  if (said.alarm)
    out << "ALERT: after " << *said.alarm << " inputs the evidence was "
        << evidence_text(-std::log10(said.alpha)) << " (--alpha " << said.alpha << ")\n";
  else
    out << "none: the evidence never reached " << evidence_text(-std::log10(said.alpha)) << " (--alpha "
        << said.alpha << ")\n";
  if (said.verdicts.all > 0) {
    const analysis::Interval interval = monitor::interval_of(said.verdicts);
    out << "  right     "
        << percent(static_cast<double>(said.verdicts.correct) / static_cast<double>(said.verdicts.all))
        << " % of " << said.verdicts.all << " inputs with feedback (95 %: " << percent(interval.low) << " to "
        << percent(interval.high) << ")\n";
  } else {
    out << "  right     unknown: no feedback came (POST /v1/feedback)\n";
  }
  out << "  latency   median " << milliseconds(said.seconds_median) << ", p95 "
      << milliseconds(said.seconds_95) << ", p99 " << milliseconds(said.seconds_99) << '\n';
}

int forget(const app::MonitorRequest& wanted, Console& console, store::Store& store, const store::RunRow& run,
           const store::ServedMerge& merge) {
  const std::string& request = *wanted.forget;
  const std::int64_t texts = store::forget_served(store, run.number, request);
  if (texts == 0) {
    console.noticed("nothing is stored about a request " + request + " to run " + run.name);
    return exit_failed;
  }
  console.out << "request " << printable(request) << " of run " << run.name << " is removed: " << texts
              << (texts == 1 ? " input\n" : " inputs\n");
  if (!merge.open.empty())
    console.out << "A running server may still have it in its spool, if it is only minutes old; a later exp "
                   "monitor\nremoves this copy too.\n";
  return exit_done;
}

record::TextReference reference_of_run(const Console& console, const store::Store& store,
                                       const store::RunRow& run) {
  if (std::optional<record::TextReference> reference = record::find_reference(store.run_folder(run.id)))
    return *std::move(reference);
  if (is_application(run))
    throw app::UsageError(
        "run " + run.name +
        " is an application, and exp monitor compares the inputs of a model; name a run that its "
        "steps ask (exp show " +
        run.name + ")");
  throw Error("run " + run.name +
              " has no reference to compare inputs with: it was trained by an earlier Encore, or without a "
              "development set; " +
              console.suggestion({"evaluate", run.name, "FILE", "--reference"}) +
              " makes one from a file of typical inputs");
}

int monitor_run(const app::MonitorRequest& request, app::App& app, Console& console) {
  if (request.alerts) return watch_alerts(request, app, console);
  store::Store store(app.database, store::OpenMode::write);
  const store::RunRow run = app::selected_run(app, store, app::selection_from(request.selection));
  const store::ServedMerge merge = store::merge_served(store, run, world::now_seconds());
  for (const std::string& problem : merge.problems) console.noticed(problem);
  if (request.forget) return forget(request, console, store, run, merge);

  const monitor::MonitorOptions options{.window = static_cast<std::size_t>(request.window),
                                        .alpha = request.alpha};
  const monitor::Monitoring said =
      monitor::monitor(reference_of_run(console, store, run), store::read_served(store, run.number),
                       store::read_verdicts(store, run.number, request.window), options);
  Json json = {{"run", run.name}};
  json.update(monitor::json_of(said));
  if (request.json)
    console.print(json);
  else if (request.csv)
    table_of(said).print_csv(console.out);
  else if (said.texts == 0)
    console.out << "nothing is stored about inputs of run " << run.name << " yet; start "
                << console.suggestion({"serve", run.name, "--monitor"}) << '\n';
  else
    print_texts(console, run.name, said);
  if (!said.alert()) return exit_done;
  console.out << std::flush;
  if (request.on_alert) try {
      call_hook(console, *request.on_alert, json, std::chrono::seconds(request.alert_timeout));
    } catch (const Error& error) {
      console.noticed(error.what() + std::string("; the alert was not sent"));
      return exit_failed;
    }
  return exit_different;
}

}  // namespace

Verb monitor_of_component() {
  return make_verb("monitor", "", app::monitor_form, monitor_run);
}

}  // namespace encore::cli
