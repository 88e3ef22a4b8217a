// SPDX-License-Identifier: BSD-3-Clause
// read_law(): reads the distribution of a random variable, and checks its bounds against the type and range
// of the option. sweep_reader.cpp calls it. Experiment files contain these distributions, so they are only
// extended. Read sweep.hpp first.
#include "plan/sweep.hpp"

#include <map>
#include <string>

#include "base/nearest.hpp"
#include "config/check_value.hpp"

namespace encore::plan {

namespace {

bool is_logarithmic(RandomVariable::Law law) {
  return law == RandomVariable::Law::log_uniform || law == RandomVariable::Law::log_integer;
}

bool read_bounds(const config::Value& value, RandomVariable& variable) {
  if (!value.is_array() || value.array().size() != 2) return false;
  const bool integers =
      variable.law == RandomVariable::Law::integer || variable.law == RandomVariable::Law::log_integer;
  const Option bound{"bound", integers ? OptionType::integer : OptionType::number, {}, false, {}, {}};
  double bounds[2];
  for (std::size_t i = 0; i < 2; ++i) {
    OptionValue checked;
    if (config::check_value(value.array()[i], bound, checked)) return false;
    bounds[i] = integers ? static_cast<double>(std::get<std::int64_t>(checked)) : std::get<double>(checked);
  }
  variable.low = bounds[0];
  variable.high = bounds[1];
  if (is_logarithmic(variable.law) && variable.low <= 0.0) return false;
  return integers ? variable.low <= variable.high : variable.low < variable.high;
}

}  // namespace

void mark_as_sweep(config::Value& value) {
  value.origin.source = config::Source::sweep;
  if (auto* table = std::get_if<config::Value::Table>(&value.data))
    for (config::Value::Member& member : *table) {
      member.key_origin.source = config::Source::sweep;
      mark_as_sweep(member.value);
    }
  if (auto* array = std::get_if<config::Value::Array>(&value.data))
    for (config::Value& element : *array) mark_as_sweep(element);
}

bool read_law(const config::Value& value, const std::string& table, RandomVariable& variable,
              config::Problems& problems) {
  using Law = RandomVariable::Law;
  static const std::map<std::string, Law> laws = {{"uniform", Law::uniform},
                                                  {"log_uniform", Law::log_uniform},
                                                  {"int", Law::integer},
                                                  {"log_int", Law::log_integer},
                                                  {"choice", Law::choice}};
  const auto refuse = [&](const config::Place& place, const std::string& message) {
    problems.add(place, variable.key, "\"" + variable.key + "\" of " + table + " " + message);
    return false;
  };
  if (!value.is_table() || value.table().size() != 1)
    return refuse(value.origin.place,
                  "must be { uniform = [low, high] }, { log_uniform = [low, high] }, "
                  "{ int = [low, high] }, { log_int = [low, high] } or { choice = [...] }, found " +
                      config::describe(value));
  const config::Value::Member& law = value.table().front();
  const auto found = laws.find(law.key);
  if (found == laws.end())
    return refuse(law.key_origin.place,
                  "has the unknown distribution \"" + law.key + "\"" +
                      did_you_mean(law.key, {"uniform", "log_uniform", "int", "log_int", "choice"},
                                   "; there is uniform, log_uniform, int, log_int and choice"));
  variable.law = found->second;
  if (variable.law == Law::choice) {
    if (!law.value.is_array() || law.value.array().empty())
      return refuse(law.value.origin.place,
                    "must choose from a list of values, found " + config::describe(law.value));
    variable.values = law.value.array();
    for (config::Value& choice : variable.values) mark_as_sweep(choice);
    return true;
  }
  if (!read_bounds(law.value, variable))
    return refuse(law.value.origin.place,
                  variable.law == Law::log_integer
                      ? "needs two integers [low, high] above 0, the first not above the second"
                  : variable.law == Law::integer
                      ? "needs two integers [low, high], the first not above the second"
                      : std::string("needs two finite numbers [low, high], the first below the second") +
                            (variable.law == Law::log_uniform ? " and above 0" : ""));
  return true;
}

}  // namespace encore::plan
