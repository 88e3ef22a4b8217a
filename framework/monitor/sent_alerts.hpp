// SPDX-License-Identifier: BSD-3-Clause
// SentAlerts: which alerts of a served run were passed to the command of --on-alert, so that each is sent
// once, however often `exp monitor` is called. Place in the flow: cli/monitor_alerts.cpp asks before it sends
// and records after. The file alerts.json lies beside the spools of the server, in the run's private folder;
// other versions of Encore read it, so members keep their names.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "monitor/alert_rules.hpp"
#include "monitor/alert_watch.hpp"
#include "world/file_descriptor.hpp"

namespace encore::monitor {

/// An alert that was sent.
struct SentAlert {
  std::string alert = {}, group = {};
  std::int64_t raised = 0;
};

class SentAlerts {
 public:
  /// Locks and reads the record in a folder. Throws Error if it is damaged, or if another process that sends
  /// alerts has it.
  explicit SentAlerts(const std::filesystem::path& folder);

  /// Returns whether an alert was sent: one of this name and group that was raised since then, or shortly
  /// before, because records that a server wrote late can move its time a little.
  bool contains(const AlertRule& rule, const Alert& alert) const;
  /// Records that it was sent, durably.
  void add(const AlertRule& rule, const Alert& alert);

 private:
  std::filesystem::path path_;
  world::FileDescriptor lock_;
  std::vector<SentAlert> sent_;
};

}  // namespace encore::monitor
