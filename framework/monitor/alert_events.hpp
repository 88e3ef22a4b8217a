// SPDX-License-Identifier: BSD-3-Clause
// The events of alerts, from two sources: lines of JSON (`exp monitor --replay`) and the records of a server
// (`exp serve --monitor`). Place in the flow: a file, or store/served.hpp -> here -> alert_watch.hpp. Users
// write such lines, so the members `time` and `id` keep their names.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "monitor/alert_rules.hpp"
#include "monitor/alert_watch.hpp"
#include "record/dev_answers.hpp"
#include "store/served.hpp"

namespace encore::monitor {

/// Reads events from lines of JSON: an object with `time` (seconds since 1970, or ISO 8601 with a zone), `id`
/// (may be missing) and the fields that the rules read. A value is a text, a number, true or false, or a list
/// of these or of objects with a member `type` (spans).
class EventReader {
 public:
  /// `fields` are those of AlertRules::fields(); `source` is the name of the file in messages.
  EventReader(std::vector<std::string> fields, std::string source)
      : fields_(std::move(fields)), source_(std::move(source)) {}

  /// Returns the event of the next line, or nothing for an empty line. Throws Error with the number of the
  /// line if it is not an event.
  std::optional<AlertEvent> read(std::string_view line);
  /// Returns the names of members that the events had, at most a hundred.
  const std::set<std::string>& names() const { return names_; }

 private:
  std::vector<std::string> fields_;
  std::string source_;
  std::int64_t line_ = 0;
  std::set<std::string> names_;
};

/// Returns the event of a record of a server. `label` has the labels of the answer.
AlertEvent event_of(const store::ServedAnswer& answer, const std::vector<std::string>& fields);

/// Returns the answers that each rule with `against = "dev"` compares with, by the place of the rule.
std::map<std::size_t, EventCount> development_counts(const AlertRules& rules,
                                                     const std::vector<record::DevAnswer>& answers);

/// Returns seconds since 1970 of "2026-01-31T23:59:59Z", also with a fraction or another zone ("+02:00");
/// nothing for another text.
std::optional<double> time_in(std::string_view text);
/// Returns "2026-01-31T23:59:59Z".
std::string utc_text(std::int64_t seconds);

}  // namespace encore::monitor
