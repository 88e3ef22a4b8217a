// monitor: what servers have kept of the texts that a run's model has answered to, against the development
// set; an alert by the exit code and by a command of the user's.
#include <cmath>
#include <iostream>

#include <nlohmann/json.hpp>

#include "cli/access.hpp"
#include "cli/components.hpp"
#include "cli/format.hpp"
#include "cli/run_selection.hpp"
#include "cli/table.hpp"
#include "monitor/monitoring.hpp"
#include "runner/worker_process.hpp"

namespace encore {

namespace {

using Json = nlohmann::ordered_json;

std::string mean_text(const std::optional<double>& value) {
  if (!value) return "-";
  return fixed(*value, *value >= 10.0 ? 1 : 3);
}

/// "1", "38", "10^12": how many times what the bets began with.
std::string evidence_text(double log10_evidence) {
  if (log10_evidence >= 6.0) return "10^" + fixed(std::floor(log10_evidence), 0);
  return fixed(std::pow(10.0, log10_evidence), log10_evidence < 1.0 ? 1 : 0);
}

std::string milliseconds(double seconds) {
  return fixed(1000.0 * seconds, 1) + " ms";
}

void print_texts(std::ostream& out, const std::string& run, const Monitoring& said) {
  out << printable(run) << ": " << said.texts << " texts from " << time_text(said.first) << " to "
      << time_text(said.last);
  if (said.window < said.texts) out << ", of which the table has the last " << said.window;
  out << "\nreference: " << said.reference_texts << " texts of " << printable(said.source) << "\n\n";
  Table table({{"MEASURE"},
               {"REFERENCE", Align::right},
               {"LIVE", Align::right},
               {"PSI", Align::right},
               {"JS", Align::right},
               {"EVIDENCE", Align::right}});
  for (const MeasuredShift& each : said.measures)
    table.add({each.name, mean_text(each.reference), mean_text(each.live), fixed(each.shift.psi, 3),
               fixed(each.shift.js, 3), evidence_text(each.log10_evidence)});
  table.add({"all", "", "", "", "", evidence_text(said.log10_evidence)});
  table.print(out, terminal_of(stdout), 2);

  out << "\n  shift     ";
  if (said.alarm)
    out << "ALERT: after " << *said.alarm << " texts the evidence was "
        << evidence_text(-std::log10(said.alpha)) << " (--alpha " << said.alpha << ")\n";
  else
    out << "none seen: the evidence was never " << evidence_text(-std::log10(said.alpha)) << " (--alpha "
        << said.alpha << ")\n";
  if (said.verdicts.all > 0) {
    const ShareInterval interval = interval_of(said.verdicts);
    out << "  right     "
        << percent(static_cast<double>(said.verdicts.correct) / static_cast<double>(said.verdicts.all))
        << " % of " << said.verdicts.all << " texts with feedback (95 %: " << percent(interval.low) << " to "
        << percent(interval.high) << ")\n";
  } else {
    out << "  right     unknown: no feedback came (POST /v1/feedback)\n";
  }
  out << "  latency   median " << milliseconds(said.seconds_median) << ", p95 "
      << milliseconds(said.seconds_95) << ", p99 " << milliseconds(said.seconds_99) << '\n';
}

/// The user's own command gets the numbers on its standard input; nothing of them stands in its line.
/// Throws Error where it fails, or says nothing for too long.
void call_hook(const std::string& command, const Json& json, std::chrono::seconds patience) {
  const ProgramOutput output =
      run_program("/bin/sh", {"-c", command}, json.dump() + "\n", {.timeout = patience});
  std::cerr << output.output << output.errors;
  if (output.silent)
    throw Error("the command of --on-alert was ended: it had said nothing for " +
                std::to_string(patience.count()) + " s (--alert-timeout)");
  if (!output.end.success()) throw Error("the command of --on-alert ended with " + output.end.text());
}

int forget(const CommandLine& line, Store& store, const RunRow& run, const ServedMerge& merge) {
  const std::string request = line.text("forget");
  const std::int64_t texts = forget_served(store, run.number, request);
  if (texts == 0) {
    std::cerr << "exp: nothing is kept of a request " << request << " to run " << run.name << '\n';
    return exit_failed;
  }
  std::cout << "request " << printable(request) << " of run " << run.name << " is forgotten: " << texts
            << (texts == 1 ? " text\n" : " texts\n");
  if (!merge.open.empty())
    std::cout << "A server at work holds it in its spool still, if it is of the last minutes; the next exp "
                 "monitor\nafter these removes that too.\n";
  return exit_done;
}

TextReference reference_of_run(const CommandLine& line, const Store& store, const RunRow& run) {
  if (std::optional<TextReference> reference = find_reference(store.run_folder(run.id)))
    return *std::move(reference);
  throw Error("run " + run.name +
              " has no reference that texts could be compared with: it was trained by an earlier Encore, or "
              "without a development set; " +
              suggestion(line, {"evaluate", run.name, "FILE", "--reference"}) +
              " makes one of a file with texts as they should be");
}

}  // namespace

int monitor_in_component(const Arguments& arguments) {
  CommandLine line = make_monitor_line();
  if (!line.parse(arguments)) return exit_done;
  const double alpha = line.number("alpha");
  if (!(alpha > 0.0 && alpha < 1.0)) throw UsageError("--alpha must be a probability, above 0 and below 1");
  if (line.integer("window") < 1) throw UsageError("--window must be at least 1");
  if (line.integer("alert-timeout") < 1) throw UsageError("--alert-timeout must be at least 1");
  Store store(line.database(), OpenMode::write);
  const RunRow run = selected_run(line, store, selection_from(line));
  const ServedMerge merge = merge_served(store, run, now());
  for (const std::string& problem : merge.problems) std::cerr << "exp: " << problem << '\n';
  if (line.has("forget")) return forget(line, store, run, merge);

  const MonitorOptions options{.window = static_cast<std::size_t>(line.integer("window")), .alpha = alpha};
  const Monitoring said = monitor(reference_of_run(line, store, run), read_served(store, run.number),
                                  read_verdicts(store, run.number, line.integer("window")), options);
  Json json = {{"run", run.name}};
  json.update(json_of(said));
  if (line.flag("json"))
    std::cout << json.dump(2, ' ', false, Json::error_handler_t::replace) << '\n';
  else if (said.texts == 0)
    std::cout << "nothing is kept of texts to run " << run.name << " yet; "
              << suggestion(line, {"serve", run.name, "--monitor"}) << " does\n";
  else
    print_texts(std::cout, run.name, said);
  if (!said.alert()) return exit_done;
  std::cout << std::flush;
  if (line.has("on-alert")) try {
      call_hook(line.text("on-alert"), json, std::chrono::seconds(line.integer("alert-timeout")));
    } catch (const Error& error) {
      std::cerr << "exp: " << error.what() << "; nobody may know of the alert\n";
      return exit_failed;
    }
  return exit_different;
}

}  // namespace encore
