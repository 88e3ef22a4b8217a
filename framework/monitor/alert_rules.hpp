// SPDX-License-Identifier: BSD-3-Clause
// AlertRule: one [[alert]] of a file of rules that a user writes for `exp monitor --alerts`; load_alerts()
// reads and checks the file. The file belongs to a service and is part of no run's identity. Place in the
// flow: cli/monitor_alerts.cpp loads it -> alert_watch.hpp evaluates events by it. Users have such files, so
// options keep their names and meaning; docs/guides/alerts.md describes them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <encore/options.hpp>

#include "config/error.hpp"

namespace encore::monitor {

enum class AlertLevel : std::uint8_t { note, warning, critical };
enum class AlertKind : std::uint8_t {
  share,   ///< the share of items with a value
  change,  ///< this share minus that of a reference
  volume   ///< the number of items divided by that of a reference
};
/// The reference of a change or of a volume.
enum class AlertReference : std::uint8_t {
  before,  ///< the window before
  days,    ///< the same time of earlier days
  dev      ///< the answers to the development set of the run
};
const char* name_of(AlertLevel level);
const char* name_of(AlertKind kind);

struct AlertRule {
  std::string name = {};
  AlertLevel level = AlertLevel::warning;
  AlertKind kind = AlertKind::share;
  std::string field = {};                ///< of an event, such as "label" or "decide.band"; not for a volume
  std::vector<std::string> values = {};  ///< an item counts if its field has one of them
  /// A share, a difference of shares, or a factor. An alert needs a value above it, or below it.
  double bound = 0.0;
  bool above = true;
  AlertReference against = AlertReference::before;
  std::int64_t days = 7;    ///< number of earlier days, for AlertReference::days
  std::int64_t window = 0;  ///< seconds
  std::int64_t least = 0;   ///< least number of items for a statement
  std::string by = {};      ///< the field that divides the events into groups; "": they are not divided
  std::int64_t hold = 0;    ///< seconds for which the value must be back before an alert ends
  double confidence = 0.0;  ///< of the interval that must clear the bound
  bool certain = true;      ///< false: the value alone decides
  config::Place at = {};    ///< of the table
  config::Place field_at = {}, values_at = {}, by_at = {};  ///< of these options
};

struct AlertRules {
  std::vector<AlertRule> rules = {};
  std::int64_t late = 0;  ///< seconds by which an event may come after a newer one

  /// Returns the names of all fields that rules read, without repetition.
  std::vector<std::string> fields() const;
};

/// What a run can answer: the values of each field. A field without values may have any.
using KnownAnswers = std::map<std::string, std::vector<std::string>>;

/// Throws ConfigErrors with everything that is wrong. `name` stands for the file in messages.
AlertRules parse_alerts(const std::string& text, const std::string& name);
/// Throws ConfigErrors also if the file cannot be read.
AlertRules load_alerts(const std::filesystem::path& file);
/// Throws ConfigErrors with the place of each field or value that the run cannot answer. `run` is its name.
void require_known(const AlertRules& rules, const KnownAnswers& known, const std::string& run);

/// The options of an [[alert]] of this kind, and those before the first alert.
const Schema& alert_schema(AlertKind kind);
const Schema& alert_file_schema();

/// Returns the seconds of "90s", "15m", "1h" or "2d"; nothing for another text.
std::optional<std::int64_t> seconds_in(const std::string& text);

}  // namespace encore::monitor
