// SPDX-License-Identifier: BSD-3-Clause
// exp logs: prints the logs of runs, attempt by attempt. app/logs.cpp reads and follows them; help_verb.cpp
// lists the verb. --json prints one object on each line; its members keep their names. Lines for people may
// change. Read next: app/logs.hpp.
#include "app/logs.hpp"

#include <nlohmann/json.hpp>

#include "cli/run_display.hpp"
#include "cli/table.hpp"
#include "cli/verbs.hpp"

namespace encore::cli {

namespace {

/// Returns an event as a line; empty for events that are only for programs.
std::string line_of(const record::ReadEvent& read, const std::vector<Metric>& metrics) {
  if (!read.problem.empty()) return "an event that cannot be read: " + read.problem;
  if (!read.event) return "";
  std::string text;
  const auto number = [](const std::optional<std::int64_t>& value) {
    return value ? std::to_string(*value) : "an unknown number of";
  };
  record::handle(
      *read.event, [&](const record::Logged& line) { text = log_text(line); },
      [&](const record::Started& started) {
        text = "started " +
               (started.parameters ? "with " + number(started.parameters) + " parameters " : std::string()) +
               "on " + number(started.threads) + (started.threads == 1 ? " thread" : " threads");
      },
      [&](const record::Saved& saved) {
        text = "checkpoint of step " + std::to_string(saved.step) + " (" + record::name_of(saved.kind) + ")";
      },
      [&](const record::Evaluated& scores) {
        text = measures_text(scores.measures, metrics, "");
        if (!text.empty()) text = "step " + std::to_string(scores.step) + "  " + text;
      },
      [&](const record::Ended& ended) {
        text = record::name_of(ended.ending);
        if (ended.step.value_or(0) > 0)
          text += " at step " + number(ended.step);
        else if (ended.ending != record::Ending::completed)
          text += " before the first step";
        if (!ended.reason.empty()) text += ": " + ended.reason;
      });
  return text;
}

std::string text_of(const store::RunRow& run, const app::LogEntry& entry) {
  if (entry.attempt == 0) return run.name + " (" + store::name_of(run.state) + ") has not logged anything\n";
  if (entry.event != nullptr) {
    const std::string line = line_of(*entry.event, *entry.metrics);
    if (line.empty()) return "";
    return (entry.event->time > 0.0 ? time_text(entry.event->time) + "  " : "") + printable(line) + "\n";
  }
  if (entry.is_problem) return printable(entry.text) + "\n";
  return entry.text.empty() ? "-- attempt " + std::to_string(entry.attempt) + " --\n"
                            : printable_lines(entry.text);
}

void print_entry_json(std::ostream& out, const store::RunRow& run, const app::LogEntry& entry) {
  using Json = nlohmann::ordered_json;
  const std::string text = entry.event != nullptr ? line_of(*entry.event, *entry.metrics) : entry.text;
  if (text.empty()) return;
  const bool timed = entry.event != nullptr && entry.event->time > 0.0;
  const Json json = {{"run", run.name},
                     {"id", run.id},
                     {"attempt", entry.attempt},
                     {"time", timed ? Json(entry.event->time) : Json()},
                     {"text", text}};
  out << json.dump(-1, ' ', false, Json::error_handler_t::replace) << '\n' << std::flush;
}

int logs_verb(const app::LogsRequest& request, app::App& app, Console& console) {
  std::string last;  // id of the run whose entry was printed last
  app::read_logs(request, app, [&](const store::RunRow& run, const app::LogEntry& entry) {
    if (request.json) return print_entry_json(console.out, run, entry);
    const std::string text = text_of(run, entry);
    if (text.empty()) return;
    if (entry.of_several && last != run.id)
      console.out << (last.empty() ? "" : "\n") << "== " << run.name << " ==\n";
    last = run.id;
    console.out << text << std::flush;
  });
  return exit_done;
}

}  // namespace

Verb logs_verb() {
  return make_verb("logs", "print the log of a run", app::logs_form, logs_verb);
}

}  // namespace encore::cli
