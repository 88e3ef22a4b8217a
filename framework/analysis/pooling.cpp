// SPDX-License-Identifier: BSD-3-Clause
// Makes the key of a candidate (candidate_keys) from the plugin files and the numeric environment of each
// run. candidates.cpp and report/model_card.cpp call it. Read pooling.hpp first: runs with equal keys are
// averaged.
#include "analysis/pooling.hpp"
#include "base/sha256.hpp"

#include <algorithm>
#include <map>
#include <set>

namespace encore::analysis {

namespace {

using nlohmann::json;

std::string text_of(const std::vector<json>& environments) {
  std::set<std::string> texts;
  for (const json& environment : environments) texts.insert(environment.dump());
  std::string text;
  for (const std::string& one : texts) text += one;
  return text;
}

/// Returns the fields of the environments by name: `device` -> `cpu one`, `plugin mine` -> `0123456789ab`.
/// Several values of a field are joined.
std::map<std::string, std::string> fields_of(const std::vector<json>& environments) {
  std::map<std::string, std::set<std::string>> values;
  for (const json& environment : environments)
    for (const auto& [name, value] : environment.items()) {
      if (name != "plugins" || !value.is_object()) {
        values[name].insert(value.is_string() ? value.get<std::string>() : value.dump());
        continue;
      }
      for (const auto& [plugin, hash] : value.items())
        values["plugin " + plugin].insert(hash.is_string() ? short_hash(hash.get<std::string>())
                                                           : hash.dump());
    }
  std::map<std::string, std::string> fields;
  for (const auto& [name, all] : values)
    for (const std::string& value : all) fields[name] += (fields[name].empty() ? "" : " and ") + value;
  return fields;
}

}  // namespace

std::vector<json> environments_of(store::Store& store, const store::RunRow& run) {
  std::vector<json> environments;
  for (const store::AttemptRow& attempt : store.read_attempts(run.number))
    if (attempt.environment.is_object() &&
        std::ranges::find(environments, attempt.environment) == environments.end())
      environments.push_back(attempt.environment);
  return environments;
}

std::vector<std::string> candidate_keys(const std::vector<RunSource>& runs, bool pool) {
  const auto question = [](const store::RunRow& run) { return run.group + '/' + run.backend; };
  std::map<std::string, std::string> first;  // by question: the environments of its first run that has any
  for (const RunSource& source : runs)
    if (!source.environments.empty()) first.try_emplace(question(*source.run), text_of(source.environments));
  std::vector<std::string> keys;
  for (const RunSource& source : runs) {
    const std::string key = question(*source.run);
    keys.push_back(key);
    if (!pool) keys.back() += source.environments.empty() ? first[key] : text_of(source.environments);
  }
  return keys;
}

std::vector<std::string> environment_names(const std::vector<std::vector<json>>& environments) {
  std::vector<std::map<std::string, std::string>> fields;
  std::map<std::string, std::set<std::string>> values;
  for (const std::vector<json>& own : environments) {
    fields.push_back(fields_of(own));
    for (const auto& [name, value] : fields.back()) values[name].insert(value);
  }
  std::vector<std::string> differing;
  for (const auto& [name, all] : values)
    if (all.size() > 1 || std::ranges::any_of(fields, [&](const auto& own) { return !own.contains(name); }))
      differing.push_back(name);
  std::vector<std::string> names;
  for (std::size_t i = 0; i < fields.size(); ++i)
    names.push_back(differing.size() == 1 && values[differing[0]].size() == fields.size()
                        ? differing[0] + ' ' + fields[i][differing[0]]
                        : "environment " + std::to_string(i + 1));
  return names;
}

}  // namespace encore::analysis
