// plugin check: puts a plugin through the contract suite. Workers do it, as child processes: one runs every
// check, two more compute the digests with other numbers of threads, and a plugin that crashes or hangs takes
// only its worker along. Every check of the suite is reported, whatever happens: passed, failed, or skipped.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "app/form.hpp"

namespace encore {

struct PluginCheckRequest {
  std::optional<std::string> backend;
  int timeout = 300;
  std::vector<std::string> data;      ///< files of one set
  std::vector<std::string> settings;  ///< KEY=VALUE
  std::optional<int> width, length;   ///< in place of the sizes of the suite
  bool json = false;
  std::string file;
};

Form<PluginCheckRequest> plugin_check_form();

/// What a check reports while it works.
class CheckEvents {
 public:
  virtual ~CheckEvents() = default;
  virtual void began(const std::string& check) = 0;
  /// It has been silent for `time`.
  virtual void waited(const std::string& check, std::chrono::seconds time) = 0;
  /// {"subject", "check", "passed", "skipped", "unchecked", "detail"}
  virtual void found(const nlohmann::json& finding) = 0;
};

struct CheckResult {
  std::vector<nlohmann::json> checks;
  int failed = 0, skipped = 0, unchecked = 0;
  bool opened = false;  ///< the worker could open the plugin and list its checks
};

/// A pass is noted (plugin_passes.hpp). Throws Error where there is no such plugin.
CheckResult check_plugin(const PluginCheckRequest& request, CheckEvents& events);

}  // namespace encore
