// SPDX-License-Identifier: BSD-3-Clause
// Reads events for alerts: checks the members of a line of JSON, and reads times. cli/monitor_alerts.cpp
// calls it for each line. What a line means must not change, because users keep such files. Read
// alert_events.hpp first.
#include "monitor/alert_events.hpp"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdio>

#include <nlohmann/json.hpp>

#include "base/json_text.hpp"

namespace encore::monitor {
namespace {

/// The year 5138; a later time is one in milliseconds.
constexpr double latest_time = 1e11;
constexpr std::size_t most_names = 100;

/// Returns the text of a value that can be compared; nothing for others.
std::optional<std::string> text_of(const nlohmann::json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_number() || value.is_boolean()) return value.dump();
  if (value.is_object() && value.contains("type") && value.at("type").is_string())
    return value.at("type").get<std::string>();
  return {};
}

std::vector<std::string> values_in(const nlohmann::json& member) {
  std::vector<std::string> values;
  const auto add = [&](const nlohmann::json& value) {
    if (std::optional<std::string> text = text_of(value)) values.push_back(*std::move(text));
  };
  if (member.is_array())
    for (const nlohmann::json& each : member) add(each);
  else
    add(member);
  return values;
}

/// Reads decimal digits of a fixed number, and moves behind them.
std::optional<int> digits(std::string_view& text, std::size_t count) {
  int number = 0;
  if (text.size() < count) return {};
  const auto [end, failure] = std::from_chars(text.data(), text.data() + count, number);
  if (failure != std::errc() || end != text.data() + count || text.front() == '-') return {};
  text.remove_prefix(count);
  return number;
}

bool take(std::string_view& text, char letter) {
  if (!text.starts_with(letter)) return false;
  text.remove_prefix(1);
  return true;
}

/// Reads a fraction of a second such as ".25"; 0 if there is none.
std::optional<double> fraction(std::string_view& text) {
  if (!take(text, '.')) return 0.0;
  const std::size_t length = std::min(text.find_first_not_of("0123456789"), text.size());
  double number = 0.0;
  const std::string digits_of_it = "0." + std::string(text.substr(0, length));
  std::from_chars(digits_of_it.data(), digits_of_it.data() + digits_of_it.size(), number);
  text.remove_prefix(length);
  if (length == 0) return {};
  return number;
}

/// Reads "Z", "+02:00" or "-0500", in seconds east of Greenwich.
std::optional<int> zone(std::string_view& text) {
  if (take(text, 'Z') || take(text, 'z')) return 0;
  const bool west = text.starts_with('-');
  if (!take(text, '+') && !take(text, '-')) return {};
  const std::optional<int> hours = digits(text, 2);
  take(text, ':');
  const std::optional<int> minutes = digits(text, 2);
  if (!hours || !minutes || *hours > 23 || *minutes > 59) return {};
  return (west ? -1 : 1) * (*hours * 3600 + *minutes * 60);
}

double time_of(const nlohmann::json& event) {
  const auto member = event.find("time");
  if (member == event.end())
    throw Error(
        "\"time\" is missing: expected seconds since 1970, or a text such as \"2026-01-31T23:59:59Z\"");
  std::optional<double> time;
  if (member->is_number()) time = member->get<double>();
  if (member->is_string()) time = time_in(member->get_ref<const std::string&>());
  if (!time || !(*time >= 0.0 && *time < latest_time))
    throw Error("invalid \"time\" " + member->dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) +
                ": expected seconds since 1970, or a text such as \"2026-01-31T23:59:59Z\"");
  return *time;
}

std::string id_of(const nlohmann::json& event) {
  const auto member = event.find("id");
  if (member == event.end() || member->is_null()) return {};
  if (member->is_string()) return member->get<std::string>();
  if (member->is_number()) return member->dump();
  throw Error("invalid \"id\": expected a text or a number");
}

}  // namespace

std::optional<AlertEvent> EventReader::read(std::string_view line) {
  ++line_;
  if (line.find_first_not_of(" \t\r") == std::string_view::npos) return {};
  try {
    const nlohmann::json json = parse_json(line);
    if (!json.is_object()) throw Error("expected a JSON object with \"time\" and \"id\"");
    AlertEvent event{.time = time_of(json), .id = id_of(json)};
    if (names_.size() < most_names)
      for (const auto& [name, value] : json.items()) names_.insert(name);
    for (const std::string& field : fields_) {
      const auto member = json.find(field);
      if (member == json.end())
        event.values.emplace_back();
      else
        event.values.emplace_back(values_in(*member));
    }
    return event;
  } catch (const Error& error) {
    throw Error(source_ + ":" + std::to_string(line_) + ": " + error.what());
  }
}

AlertEvent event_of(const store::ServedAnswer& answer, const std::vector<std::string>& fields) {
  AlertEvent event{.time = answer.time, .id = answer.request + "/" + std::to_string(answer.text)};
  for (const std::string& field : fields) {
    std::optional<std::vector<std::string>>& values = event.values.emplace_back();
    if (field == group_field) {
      if (!answer.group.empty()) values = {answer.group};
    } else if (const auto found = answer.fields.find(field); found != answer.fields.end()) {
      values = {found->second};
    } else if (field == "label" && answer.fields.empty()) {
      values.emplace();
      for (const auto& [label, count] : answer.labels)
        if (count > 0) values->push_back(label);
    }
  }
  return event;
}

std::map<std::size_t, EventCount> development_counts(const AlertRules& rules,
                                                     const std::vector<record::DevAnswer>& answers) {
  std::map<std::size_t, EventCount> counts;
  for (std::size_t number = 0; number < rules.rules.size(); ++number) {
    const AlertRule& rule = rules.rules[number];
    if (rule.kind != AlertKind::change || rule.against != AlertReference::dev) continue;
    EventCount& count = counts[number];
    for (const record::DevAnswer& answer : answers) {
      const auto field = answer.find(rule.field);
      if (field == answer.end()) continue;
      ++count.all;
      count.hits += std::ranges::any_of(field->second, [&](const std::string& value) {
        return std::ranges::find(rule.values, value) != rule.values.end();
      });
    }
  }
  return counts;
}

std::optional<double> time_in(std::string_view text) {
  using namespace std::chrono;
  const std::optional<int> years = digits(text, 4);
  const bool first_dash = take(text, '-');
  const std::optional<int> months = digits(text, 2);
  const bool second_dash = take(text, '-');
  const std::optional<int> days_of_month = digits(text, 2);
  const bool between = take(text, 'T') || take(text, ' ');
  const std::optional<int> hour = digits(text, 2);
  const bool first_colon = take(text, ':');
  const std::optional<int> minute = digits(text, 2);
  const bool second_colon = take(text, ':');
  const std::optional<int> second = digits(text, 2);
  if (!years || !first_dash || !months || !second_dash || !days_of_month || !between || !hour ||
      !first_colon || !minute || !second_colon || !second)
    return {};
  const std::optional<double> part = fraction(text);
  const std::optional<int> east = zone(text);
  const year_month_day date(year(*years), month(static_cast<unsigned>(*months)),
                            day(static_cast<unsigned>(*days_of_month)));
  if (!part || !east || !text.empty() || !date.ok() || *hour > 23 || *minute > 59 || *second > 60) return {};
  const auto days_since = sys_days(date).time_since_epoch().count();
  return static_cast<double>(std::int64_t{days_since} * 86400 + *hour * 3600 + *minute * 60 + *second -
                             *east) +
         *part;
}

std::string utc_text(std::int64_t seconds) {
  using namespace std::chrono;
  const sys_seconds time{std::chrono::seconds(seconds)};
  const sys_days date = floor<days>(time);
  const year_month_day parts(date);
  const hh_mm_ss clock(time - date);
  char text[48];
  std::snprintf(text, sizeof text, "%04d-%02u-%02uT%02d:%02d:%02dZ", static_cast<int>(parts.year()),
                static_cast<unsigned>(parts.month()), static_cast<unsigned>(parts.day()),
                static_cast<int>(clock.hours().count()), static_cast<int>(clock.minutes().count()),
                static_cast<int>(clock.seconds().count()));
  return text;
}

}  // namespace encore::monitor
