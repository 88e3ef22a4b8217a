// SPDX-License-Identifier: BSD-3-Clause
// Finds the factors of a list of runs (factors_of): the settings in which they differ, each with a short
// label. Settings that change together are joined, except those that a sweep or the command line set one by
// one. Reports, `exp ls` and `exp compare` call it, and tables of reports have a column for each factor.
// Nothing is stored, so the joining and the labels may change. Read factors.hpp first.
#include "analysis/factors.hpp"

#include <algorithm>
#include <map>

#include "base/readable_text.hpp"
#include "config/core_schema.hpp"
#include "config/option_text.hpp"

namespace encore::analysis {

namespace {

/// The values of one setting: `texts` has one for each run as JSON, `levels` each different value. Equal
/// numbers are one level: 1 and 1.0 have the text of the one that occurs first.
struct KeyValues {
  std::vector<std::string> texts;
  std::vector<nlohmann::json> levels;
  bool swept = false;   ///< varied by a sweep or a search
  bool chosen = false;  ///< set by a sweep, a search or the command line, not because another setting changed
};

std::string text_of(const nlohmann::json& value) {
  return value.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

/// Orders the levels of a factor: numbers by value, then text and lists in natural order, a missing setting
/// last.
bool level_before(const nlohmann::json& a, const nlohmann::json& b) {
  if (a.is_null() != b.is_null()) return b.is_null();
  if (a.is_number() && b.is_number()) return a.get<double>() < b.get<double>();
  if (a.is_number() != b.is_number()) return a.is_number();
  return natural_less(config::setting_text(a), config::setting_text(b));
}

std::map<std::string, KeyValues> values_by_key(const std::vector<store::RunRow>& runs,
                                               const store::RunBatch::ByRun<store::ParamRow>& params) {
  std::map<std::string, KeyValues> keys;
  const std::string missing = nlohmann::json().dump();
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const auto own = params.find(runs[i].number);
    if (own == params.end()) continue;
    for (const store::ParamRow& param : own->second) {
      if (config::only_describes(param.key)) continue;
      KeyValues& values = keys[param.key];
      values.texts.resize(runs.size(), missing);
      values.swept = values.swept || param.source == "sweep";
      values.chosen = values.chosen || param.source == "sweep" || param.source == "command line";
      const auto known = std::find(values.levels.begin(), values.levels.end(), param.value);
      values.texts[i] = text_of(known == values.levels.end() ? param.value : *known);
      if (known == values.levels.end()) values.levels.push_back(param.value);
    }
  }
  for (auto& [key, values] : keys)
    if (std::find(values.texts.begin(), values.texts.end(), missing) != values.texts.end() &&
        std::find(values.levels.begin(), values.levels.end(), nlohmann::json()) == values.levels.end())
      values.levels.push_back(nullptr);
  return keys;
}

/// Returns a number for each run, equal for runs with equal values. Settings that always change together give
/// the same numbers.
std::vector<std::size_t> partition_of(const std::vector<std::string>& texts) {
  std::map<std::string, std::size_t> seen;
  std::vector<std::size_t> partition;
  for (const std::string& text : texts)
    partition.push_back(seen.try_emplace(text, seen.size()).first->second);
  return partition;
}

/// Returns whether `a` is the better name for settings that change together: first a swept one, then a type,
/// then a short one, because the user most likely wrote that one.
bool names_better(const std::string& a, bool a_swept, const std::string& b, bool b_swept) {
  if (a_swept != b_swept) return a_swept;
  if (a.ends_with(".type") != b.ends_with(".type")) return a.ends_with(".type");
  if (a.size() != b.size()) return a.size() < b.size();
  return a < b;
}

/// Returns how many parts two keys share at their beginning: "optimizer.type" and "optimizer.beta1" share
/// one.
std::size_t common_parts(const std::string& a, const std::string& b) {
  std::size_t parts = 0;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()) && a[i] == b[i]; ++i) parts += a[i] == '.' ? 1 : 0;
  return parts;
}

/// Splits settings that change together into factors, each with the settings that go with it. A setting that
/// was chosen by itself is a factor: two drawn numbers are distinct in every run but independent. Anything
/// else follows from a type or a table, most likely from the nearest one.
std::map<std::string, std::vector<std::string>> split_by_choice(
    const std::vector<std::string>& names, const std::map<std::string, KeyValues>& keys) {
  const auto better = [&](const std::string& a, const std::string& b) {
    return names_better(a, keys.at(a).swept, b, keys.at(b).swept);
  };
  std::vector<std::string> leaders;
  for (const std::string& name : names)
    if (keys.at(name).chosen) leaders.push_back(name);
  if (leaders.empty()) leaders.push_back(*std::ranges::min_element(names, better));
  std::map<std::string, std::vector<std::string>> split;
  for (const std::string& name : names) {
    const bool leads = std::ranges::find(leaders, name) != leaders.end();
    const std::string& leader =
        leads ? name : *std::ranges::min_element(leaders, [&](const auto& a, const auto& b) {
          const std::size_t with_a = common_parts(name, a), with_b = common_parts(name, b);
          return with_a != with_b ? with_a > with_b : better(a, b);
        });
    split[leader].push_back(name);
  }
  return split;
}

/// Returns the last `count` parts of a key, without a ".type" at its end: "attention" stands for its type.
std::string last_parts(const std::string& key, std::size_t count) {
  const std::string type = ".type";
  const std::string path = key.ends_with(type) ? key.substr(0, key.size() - type.size()) : key;
  std::size_t at = path.size();
  for (std::size_t i = 0; i < count && at != std::string::npos; ++i)
    at = at == 0 ? std::string::npos : path.rfind('.', at - 1);
  return at == std::string::npos ? path : path.substr(at + 1);
}

/// Sets the label of each factor: the fewest last parts of its name that no other factor has, or the whole
/// name.
void add_labels(std::vector<Factor>& factors) {
  constexpr std::size_t most_parts = 8;
  for (Factor& factor : factors) {
    for (std::size_t count = 1; count <= most_parts; ++count) {
      factor.label = last_parts(factor.name, count);
      const auto alike = std::count_if(factors.begin(), factors.end(), [&](const Factor& other) {
        return last_parts(other.name, count) == factor.label;
      });
      if (alike == 1) break;
      factor.label = factor.name;
    }
  }
}

Factor factor_of(const std::string& name, const std::vector<std::string>& keys, const KeyValues& values) {
  Factor factor{.name = name, .label = {}, .keys = keys, .levels = values.levels, .level = {}};
  std::sort(factor.levels.begin(), factor.levels.end(), level_before);
  std::map<std::string, std::size_t> number;
  for (std::size_t i = 0; i < factor.levels.size(); ++i) number[text_of(factor.levels[i])] = i;
  for (const std::string& text : values.texts) factor.level.push_back(number.at(text));
  factor.numeric = std::all_of(factor.levels.begin(), factor.levels.end(),
                               [](const nlohmann::json& level) { return level.is_number(); });
  return factor;
}

}  // namespace

std::string level_text(const nlohmann::json& level) {
  return level.is_null() ? "absent" : config::setting_text(level);
}

std::vector<Factor> factors_of(const std::vector<store::RunRow>& runs,
                               const store::RunBatch::ByRun<store::ParamRow>& params) {
  const std::map<std::string, KeyValues> keys = values_by_key(runs, params);
  std::map<std::vector<std::size_t>, std::vector<std::string>> together;
  for (const auto& [key, values] : keys)
    if (values.levels.size() > 1) together[partition_of(values.texts)].push_back(key);
  std::vector<Factor> factors;
  for (const auto& [partition, names] : together)
    for (const auto& [name, with] : split_by_choice(names, keys))
      factors.push_back(factor_of(name, with, keys.at(name)));
  std::sort(factors.begin(), factors.end(),
            [](const Factor& a, const Factor& b) { return natural_less(a.name, b.name); });
  add_labels(factors);
  return factors;
}

}  // namespace encore::analysis
