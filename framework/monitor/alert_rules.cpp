// SPDX-License-Identifier: BSD-3-Clause
// Reads the file of --alerts: a schema for each kind of alert, and the checks that a schema cannot express
// (durations, one bound, fields that the run has). cli/monitor_alerts.cpp calls it. Users have files with
// these options, so an option keeps its name and default. Read alert_rules.hpp first.
#include "monitor/alert_rules.hpp"

#include <algorithm>
#include <charconv>

#include "base/input_file.hpp"
#include "base/nearest.hpp"
#include "config/toml.hpp"
#include "config/validate.hpp"

namespace encore::monitor {
namespace {

using config::Place;
using config::Problems;
using config::ValidTable;
using config::Value;

constexpr std::size_t most_rules_bytes = std::size_t{1} << 20;
constexpr const char* alert_key = "alert";
constexpr std::int64_t second_of_day = 86400;
constexpr std::int64_t longest_window = 31 * second_of_day;
constexpr std::size_t most_values_named = 12;

const std::vector<std::string> kinds = {"share", "change", "volume"};
const std::vector<std::string> levels = {"note", "warning", "critical"};

/// Adds the options of every kind. `least` is the default of the option.
Schema& add_common(Schema& schema) {
  return schema
      .required("name", OptionType::text, {.help = "the name of the alert, as tables and commands show it"})
      .choice("level", "warning", levels, {.help = "how urgent the alert is"})
      .choice("when", "share", kinds,
              {.help = "what is compared: the `share` of items with a label, the `change` of this share, or "
                       "the `volume` (number of items)"})
      .required("window", OptionType::text,
                {.help = "the length of the window, such as `\"15m\"` or `\"1h\"`"})
      .integer("least", 50,
               {.help = "least number of items in the window for a statement; for a change also in the "
                        "reference, for a factor below 1 in the reference instead",
                .min = 1,
                .max = 1e12})
      .text("by", "", {.help = "the field that divides the items into groups with an alert of their own"})
      .text("hold", "",
            {.help = "an alert ends when its value was back within the bound for this time; empty: the "
                     "length of the window"})
      .number("confidence", 0.99,
              {.help = "the confidence of the interval that must clear the bound",
               .min = 0.5,
               .max = 0.9999999,
               .exclusive_min = true})
      .boolean("certain", true,
               {.help = "whether the whole interval must clear the bound; false: the value is enough"});
}

Schema& add_what_counts(Schema& schema) {
  return schema.text_list("label", {}, {.help = "an item counts if it has one of these labels"})
      .text("field", "", {.help = "in place of `label`: an item counts if this field has one of the values"})
      .text_list("value", {}, {.help = "the values of `field`"});
}

Schema& add_reference(Schema& schema, std::vector<std::string> choices) {
  return schema
      .choice(
          "against", "before", std::move(choices),
          {.help = "the reference: `before`, the window before this one; `days`, the same time of earlier "
                   "days; `dev`, the answers of the run to its development set"})
      .integer("days", 7,
               {.help = "the number of earlier days for `against = \"days\"`; the time is that of UTC",
                .min = 1,
                .max = 60});
}

Schema make_schema(AlertKind kind) {
  Schema schema;
  add_common(schema);
  switch (kind) {
    case AlertKind::share:
      add_what_counts(schema)
          .optional("above", OptionType::number,
                    {.help = "alert if the share is above this bound",
                     .min = 0.0,
                     .max = 1.0,
                     .exclusive_max = true})
          .optional("below", OptionType::number,
                    {.help = "alert if the share is below this bound",
                     .min = 0.0,
                     .max = 1.0,
                     .exclusive_min = true});
      break;
    case AlertKind::change:
      add_reference(add_what_counts(schema), {"before", "days", "dev"})
          .required("points", OptionType::number,
                    {.help = "alert if the share has changed by more than this",
                     .unit = "percentage points",
                     .min = 0.0,
                     .max = 100.0,
                     .exclusive_max = true})
          .choice("direction", "rise", {"rise", "fall"}, {.help = "the direction of the change"});
      break;
    case AlertKind::volume:
      add_reference(schema, {"before", "days"})
          .required(
              "factor", OptionType::number,
              {.help = "alert if the number of items is more than this times that of the reference; below "
                       "1: less than this times",
               .min = 0.0,
               .max = 1e6,
               .exclusive_min = true});
  }
  return schema;
}

/// A single label may be written without brackets.
Value with_lists(Value table) {
  for (const char* name : {"label", "value"}) {
    Value::Member* const member = table.find(name);
    if (member == nullptr || !member->value.is_text()) continue;
    const Value one = member->value;
    member->value.data = Value::Array{one};
  }
  return table;
}

template <class Choice>
Choice chosen(const std::vector<std::string>& names, const std::string& name) {
  return static_cast<Choice>(std::ranges::find(names, name) - names.begin());
}

/// Turns one [[alert]] into a rule.
class RuleReader {
 public:
  RuleReader(const Value& table, std::size_t number, Problems& problems)
      : table_(with_lists(table)), owner_(owner_of(table, number)), problems_(problems) {}

  AlertRule read() {
    AlertRule rule{.at = table_.origin.place};
    if (const Value::Member* when = table_.find("when")) {
      if (!when->value.is_text() || std::ranges::find(kinds, when->value.text()) == kinds.end()) {
        problems_.add(when->value.origin.place, "alert.when",
                      "option \"when\" of " + owner_ + " must be " + quoted_list(kinds) + ", found " +
                          config::describe(when->value) +
                          (when->value.is_text() ? did_you_mean(when->value.text(), kinds) : ""));
        return rule;
      }
      rule.kind = chosen<AlertKind>(kinds, when->value.text());
    }
    const std::size_t before = problems_.all().size();
    valid_ = config::validate(table_, alert_schema(rule.kind), {alert_key, owner_}, problems_);
    if (problems_.all().size() > before) return rule;
    fill(rule);
    return rule;
  }

 private:
  static std::string owner_of(const Value& table, std::size_t number) {
    const Value::Member* const name = table.find("name");
    if (name == nullptr || !name->value.is_text()) return "[[alert]] " + std::to_string(number);
    return "[[alert]] \"" + config::shortened(name->value.text()) + "\"";
  }
  /// Returns the place of an option, or of the table if the option is a default.
  Place place(const char* option) const {
    const auto found = valid_.origin.find(std::string(alert_key) + "." + option);
    return found == valid_.origin.end() ? table_.origin.place : found->second.place;
  }
  void refuse(const char* option, const std::string& wrong) {
    problems_.add(place(option), std::string(alert_key) + "." + option,
                  "option \"" + std::string(option) + "\" of " + owner_ + " " + wrong);
  }
  void refuse_table(const std::string& wrong) {
    problems_.add(table_.origin.place, alert_key, owner_ + " " + wrong);
  }

  std::int64_t seconds(const char* option, std::int64_t least) {
    const std::string& text = valid_.options.text(option);
    const std::optional<std::int64_t> found = seconds_in(text);
    if (!found || *found < least || *found > longest_window)
      refuse(option, "must be a time from " + std::to_string(least) +
                         "s to 31d, such as \"15m\" or \"1h\", found \"" + config::shortened(text) + "\"");
    return found.value_or(least);
  }

  void fill(AlertRule& rule) {
    const Options& options = valid_.options;
    rule.name = options.text("name");
    if (rule.name.empty()) refuse("name", "is empty: name the alert");
    rule.level = chosen<AlertLevel>(levels, options.text("level"));
    rule.window = seconds("window", 1);
    rule.hold = options.text("hold").empty() ? rule.window : seconds("hold", 0);
    rule.least = options.integer("least");
    rule.by = options.text("by");
    rule.by_at = place("by");
    rule.confidence = options.number("confidence");
    rule.certain = options.flag("certain");
    if (rule.kind != AlertKind::volume) fill_what_counts(rule);
    if (rule.kind == AlertKind::share)
      fill_share(rule);
    else
      fill_reference(rule);
    if (rule.kind == AlertKind::change) {
      rule.above = options.text("direction") == "rise";
      rule.bound = (rule.above ? 0.01 : -0.01) * options.number("points");
    } else if (rule.kind == AlertKind::volume) {
      rule.bound = options.number("factor");
      rule.above = rule.bound > 1.0;
      if (rule.bound == 1.0)
        refuse("factor", "must not be 1: above 1 is an alert about more items, below 1 about fewer");
    }
  }

  void fill_what_counts(AlertRule& rule) {
    const Options& options = valid_.options;
    const bool by_label = options.given("label"), by_field = options.given("field");
    if (by_label == by_field)
      return refuse_table(by_label ? "has both \"label\" and \"field\": keep one of them"
                                   : "has nothing to count: give \"label\", or \"field\" and \"value\"");
    if (by_label && options.given("value"))
      return refuse("value", "belongs to \"field\", not to \"label\": remove it");
    rule.field = by_label ? "label" : options.text("field");
    rule.values = options.text_list(by_label ? "label" : "value");
    rule.field_at = place(by_label ? "label" : "field");
    rule.values_at =
        by_field && !options.given("value") ? rule.field_at : place(by_label ? "label" : "value");
    if (rule.field.empty()) refuse("field", "is empty: name a field of the answers, such as \"decide.band\"");
    if (!rule.values.empty()) return;
    if (by_field && !options.given("value"))
      refuse_table("has \"field\" without \"value\": give the values that count");
    else
      refuse(by_label ? "label" : "value", "is an empty list: give at least one");
  }

  void fill_share(AlertRule& rule) {
    const Options& options = valid_.options;
    if (options.has("above") == options.has("below"))
      return refuse_table(options.has("above")
                              ? "has both \"above\" and \"below\": write two alerts"
                              : "has no bound: give \"above\" or \"below\", a share from 0 to 1");
    rule.above = options.has("above");
    rule.bound = options.number(rule.above ? "above" : "below");
  }

  void fill_reference(AlertRule& rule) {
    const Options& options = valid_.options;
    const std::string& against = options.text("against");
    rule.against = against == "before" ? AlertReference::before
                   : against == "days" ? AlertReference::days
                                       : AlertReference::dev;
    rule.days = options.integer("days");
    if (options.given("days") && rule.against != AlertReference::days)
      refuse("days", "needs against = \"days\"");
    if (rule.against == AlertReference::days && rule.window > second_of_day)
      refuse("window", "must be at most \"1d\" with against = \"days\", or it would overlap its reference");
  }

  Value table_;
  std::string owner_;
  Problems& problems_;
  ValidTable valid_;
};

void require_values(const AlertRule& rule, const KnownAnswers& known, const std::string& run,
                    Problems& problems) {
  std::vector<std::string> names;
  for (const auto& [field, values] : known) names.push_back(field);
  const auto found = known.find(rule.field);
  if (found == known.end()) {
    const bool is_label = rule.field == "label";
    problems.add(
        rule.field_at, is_label ? "alert.label" : "alert.field",
        (is_label ? "run " + run + " has no labels"
                  : "run " + run + " has no field \"" + config::shortened(rule.field) + "\"") +
            did_you_mean(rule.field, names, "; its fields with few values are " + quoted_list(names)));
    return;
  }
  if (found->second.empty()) return;
  for (const std::string& value : rule.values) {
    if (std::ranges::find(found->second, value) != found->second.end()) continue;
    std::vector<std::string> some = found->second;
    some.resize(std::min(some.size(), most_values_named));
    problems.add(rule.values_at, rule.field == "label" ? "alert.label" : "alert.value",
                 "run " + run + " never answers \"" + config::shortened(value) + "\" in the field \"" +
                     rule.field + "\"" +
                     did_you_mean(value, found->second,
                                  "; its values are " + quoted_list(some) +
                                      (some.size() < found->second.size() ? ", ..." : "")));
  }
}

}  // namespace

const char* name_of(AlertLevel level) {
  return levels[static_cast<std::size_t>(level)].c_str();
}

const char* name_of(AlertKind kind) {
  return kinds[static_cast<std::size_t>(kind)].c_str();
}

const Schema& alert_schema(AlertKind kind) {
  static const std::vector<Schema> schemas = {make_schema(AlertKind::share), make_schema(AlertKind::change),
                                              make_schema(AlertKind::volume)};
  return schemas[static_cast<std::size_t>(kind)];
}

const Schema& alert_file_schema() {
  static const Schema schema = Schema().text(
      "late", "2s",
      {.help = "how long an event may come after a newer one; windows are evaluated after this time"});
  return schema;
}

std::optional<std::int64_t> seconds_in(const std::string& text) {
  constexpr std::string_view units = "smhd";
  constexpr std::int64_t lengths[] = {1, 60, 3600, second_of_day};
  if (text.empty()) return {};
  const std::size_t unit = units.find(text.back());
  std::int64_t number = 0;
  const char* const last = text.data() + text.size() - 1;
  const auto [end, failure] = std::from_chars(text.data(), last, number);
  constexpr std::int64_t most = 1'000'000'000;
  if (unit == std::string_view::npos || failure != std::errc() || end != last || number < 0 || number > most)
    return {};
  return number * lengths[unit];
}

std::vector<std::string> AlertRules::fields() const {
  std::vector<std::string> names;
  for (const AlertRule& rule : rules)
    for (const std::string* name : {&rule.field, &rule.by})
      if (!name->empty() && std::ranges::find(names, *name) == names.end()) names.push_back(*name);
  return names;
}

AlertRules parse_alerts(const std::string& text, const std::string& name) {
  const Value root = config::parse_toml(text, name);
  Problems problems;
  AlertRules all;
  const ValidTable settings =
      config::validate(root, alert_file_schema(), {"", "the file of alerts"}, problems, {alert_key});
  if (problems.empty()) {
    const std::string& late = settings.options.text("late");
    const std::optional<std::int64_t> seconds = seconds_in(late);
    if (!seconds || *seconds > longest_window)
      problems.add(settings.origin.at("late").place, "late",
                   "option \"late\" must be a time from 0s to 31d, such as \"10m\", found \"" +
                       config::shortened(late) + "\"");
    all.late = seconds.value_or(0);
  }
  const Value::Member* const list = root.find(alert_key);
  if (list == nullptr)
    problems.add(root.origin.place, alert_key,
                 "the file has no [[alert]]: write one with name, window, label and above");
  else if (!list->value.is_array())
    problems.add(list->key_origin.place, alert_key,
                 "\"alert\" must be a list of tables, each beginning with [[alert]], found " +
                     config::describe(list->value));
  else
    for (const Value& table : list->value.array()) {
      const std::size_t number = all.rules.size() + 1;
      if (!table.is_table()) {
        problems.add(table.origin.place, alert_key,
                     "\"alert\" must be a list of tables, each beginning with [[alert]], found " +
                         config::describe(table) + " in the list");
        continue;
      }
      AlertRule rule = RuleReader(table, number, problems).read();
      if (!rule.name.empty() && std::ranges::find(all.rules, rule.name, &AlertRule::name) != all.rules.end())
        problems.add(rule.at, "alert.name",
                     "two alerts have the name \"" + config::shortened(rule.name) + "\": rename one of them");
      all.rules.push_back(std::move(rule));
    }
  if (list != nullptr && list->value.is_array() && list->value.array().empty())
    problems.add(list->key_origin.place, alert_key,
                 "the list of alerts is empty: write at least one [[alert]]");
  problems.require_none();
  return all;
}

AlertRules load_alerts(const std::filesystem::path& file) {
  std::string text;
  try {
    text = read_file(file, most_rules_bytes);
  } catch (const UnreadableFile& error) {
    throw config::ConfigErrors({{{}, "", error.what()}});
  }
  return parse_alerts(text, file.string());
}

void require_known(const AlertRules& rules, const KnownAnswers& known, const std::string& run) {
  Problems problems;
  std::vector<std::string> groups = {"group"};
  for (const auto& [field, values] : known) groups.push_back(field);
  for (const AlertRule& rule : rules.rules) {
    if (rule.kind != AlertKind::volume) require_values(rule, known, run, problems);
    if (!rule.by.empty() && std::ranges::find(groups, rule.by) == groups.end())
      problems.add(rule.by_at, "alert.by",
                   "option \"by\" of [[alert]] \"" + config::shortened(rule.name) + "\" names \"" +
                       config::shortened(rule.by) + "\", which the records of run " + run + " do not have" +
                       did_you_mean(rule.by, groups, "; they have " + quoted_list(groups)));
  }
  problems.require_none();
}

}  // namespace encore::monitor
