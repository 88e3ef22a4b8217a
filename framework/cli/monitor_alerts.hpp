// SPDX-License-Identifier: BSD-3-Clause
// watch_alerts(): `exp monitor --alerts` evaluates rules of a user over the answers of a served run, or over
// a file of events (--replay), and prints the alerts; call_hook() passes an alert to the user's command.
// monitor_verb.cpp calls both. alert_tables.cpp prints. Scripts read JSON, CSV and exit code 3: add members
// and columns, but rename none. Read next: monitor/alert_watch.hpp.
#pragma once

#include <chrono>
#include <string>

#include <nlohmann/json_fwd.hpp>

#include "app/serving_requests.hpp"
#include "cli/console.hpp"
#include "monitor/alert_watch.hpp"

namespace encore::cli {

/// Runs the user's command with the JSON on its standard input, not in its command line. Throws Error if it
/// fails or prints nothing for too long.
void call_hook(Console& console, const std::string& command, const nlohmann::ordered_json& json,
               std::chrono::seconds patience);

/// Carries out a request with --alerts. Returns exit_different if an alert was raised in a replay, continues
/// in the records of a server, or was sent.
int watch_alerts(const app::MonitorRequest& request, app::App& app, Console& console);

/// Prints all alerts and the shares of all groups, as the request asks: tables, JSON or CSV. `source` names
/// the run or the file of the events.
void print_alerts(const app::MonitorRequest& request, Console& console, const std::string& source,
                  const monitor::AlertWatch& watch);

/// Prints that an alert was raised, or that it has ended, as one line of text or JSON, and flushes.
void print_change(const app::MonitorRequest& request, Console& console, const std::string& source,
                  const monitor::AlertRule& rule, const monitor::Alert& alert);

}  // namespace encore::cli
