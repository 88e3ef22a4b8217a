// SPDX-License-Identifier: BSD-3-Clause
// read_logs(): the logs of runs, attempt by attempt, for `exp logs`. They are read from the spools and log
// files in the run folders, so they are available before they are in the database. cli/logs_verb.cpp calls it
// and prints the entries. It only reads. Read next: record/spool_reader.hpp.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "app/run_selection.hpp"
#include "base/metric.hpp"
#include "record/spool_reader.hpp"

namespace encore::app {

struct LogsRequest {
  bool follow = false;  ///< continue until the runs have ended
  bool json = false;
  SelectionRequest selection;
};

Form<LogsRequest> logs_form();

/// A part of the log of a run.
struct LogEntry {
  std::size_t attempt = 0;                   ///< counts from 1; 0: the run has not logged anything
  const record::ReadEvent* event = nullptr;  ///< what the worker reported
  const std::vector<Metric>* metrics = {};   ///< those that the attempt has defined
  std::string text = {};  ///< what it wrote to its standard error, or a problem of the spool
  bool is_problem = false;
  bool of_several = false;  ///< runs are read
};

/// Calls `take` with each entry, in order, with its run. With `follow` it returns when all runs have ended.
void read_logs(const LogsRequest& request, const App& app,
               const std::function<void(const store::RunRow& run, const LogEntry& entry)>& take);

}  // namespace encore::app
