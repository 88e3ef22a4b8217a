// SPDX-License-Identifier: BSD-3-Clause
// Output of exp monitor --alerts for people and programs. cli/monitor_alerts.cpp calls it with what
// monitor::AlertWatch has evaluated. Scripts read CSV and JSON: add columns and members, but rename none.
#pragma once

#include <string>

#include "app/serving_requests.hpp"
#include "cli/console.hpp"
#include "monitor/alert_watch.hpp"

namespace encore::cli {

/// Prints all alerts and the shares of all groups, as the request asks: tables, JSON or CSV. `source` names
/// the run or the file of the events.
void print_alerts(const app::MonitorRequest& request, Console& console, const std::string& source,
                  const monitor::AlertWatch& watch);

/// Prints that an alert was raised, or that it has ended, as one line of text or JSON, and flushes.
void print_change(const app::MonitorRequest& request, Console& console, const std::string& source,
                  const monitor::AlertRule& rule, const monitor::Alert& alert);

}  // namespace encore::cli
