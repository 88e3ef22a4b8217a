// SPDX-License-Identifier: BSD-3-Clause
// check_plugin(): runs the contract suite on a plugin, for `exp plugin check` (cli/plugin_check.cpp). Workers
// run the checks as child processes, so a plugin that crashes or hangs stops only its worker. One worker runs
// every check. Two more compute the digests (hashes of results) of the check "threads" with other numbers of
// threads. Every check of the suite is reported as passed, failed, skipped or unchecked; none may be left
// out. Read next: contract/suite.hpp.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "app/form.hpp"

namespace encore::app {

struct PluginCheckRequest {
  std::optional<std::string> backend;  ///< of the worker; not given: see backend.hpp
  int timeout = 300;                   ///< seconds without output after which a check fails
  std::vector<std::string> data;       ///< files of one data set
  std::vector<std::string> settings;   ///< KEY=VALUE
  std::optional<int> width, length;    ///< instead of the suite's sizes
  bool json = false;
  std::string file;  ///< the shared object
};

Form<PluginCheckRequest> plugin_check_form();

/// Receives the reports of a check while it runs. `check` names the subject and the check, such as
/// `layer "highway": gradients`.
class CheckEvents {
 public:
  virtual ~CheckEvents() = default;
  virtual void began(const std::string& check) = 0;
  /// The check has printed nothing for `time`.
  virtual void waited(const std::string& check, std::chrono::seconds time) = 0;
  /// `finding` has the members "subject", "check", "passed", "skipped", "unchecked" and "detail".
  virtual void found(const nlohmann::json& finding) = 0;
};

struct CheckResult {
  std::vector<nlohmann::json> checks;  ///< as CheckEvents::found() received them
  /// Numbers of checks; `unchecked` ones passed without comparing anything.
  int failed = 0, skipped = 0, unchecked = 0;
  bool opened = false;  ///< the worker could open the plugin and list its checks
};

/// Runs all checks and stores a pass if none failed (plugin_passes.hpp). Throws Error if the plugin does not
/// exist.
CheckResult check_plugin(const PluginCheckRequest& request, CheckEvents& events);

}  // namespace encore::app
