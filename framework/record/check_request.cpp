// SPDX-License-Identifier: BSD-3-Clause
// CheckRequest: numbers the tables of all runs, writes each table once, and restores specifications from it.
// runner/check.cpp writes it, worker/check_verb.cpp reads it. Both programs come from one build, so the form
// may change. Read check_request.hpp first.
#include "record/check_request.hpp"

#include <encore/error.hpp>

#include "base/json_text.hpp"

namespace encore::record {

namespace {

nlohmann::json files_of(const Specification& specification) {
  nlohmann::json files = nlohmann::json::object();
  for (const auto& [role, file] : specification.data) files[role] = {file.path, file.sha256};
  return files;
}

/// Returns the dotted keys of the options of a table, or of one below it, that have their defaults.
nlohmann::json defaults_of(const config::Origins& origins, const std::string& table) {
  nlohmann::json keys = nlohmann::json::array();
  const std::string prefix = table + ".";
  for (auto at = origins.lower_bound(prefix); at != origins.end() && at->first.starts_with(prefix); ++at)
    if (at->second.source == config::Source::fallback) keys.push_back(at->first);
  return keys;
}

}  // namespace

std::string CheckRequest::Run::table(const std::string& name) const {
  return std::to_string(tables.at(name)) + " " + std::to_string(defaults.at(name));
}

std::size_t CheckRequest::number_of(const std::string& name, const nlohmann::json& part) {
  const auto latest = latest_.find(name);
  if (latest != latest_.end() && parts_[latest->second] == part) return latest->second;
  const auto [known, is_new] = numbers_.emplace(part.dump(), parts_.size());
  if (is_new) parts_.push_back(part);
  return latest_[name] = known->second;
}

bool CheckRequest::add(const Specification& specification) {
  Run run;
  for (const auto& [name, table] : specification.config.items()) {
    run.tables[name] = number_of(name, table);
    run.defaults[name] = number_of("defaults of " + name, defaults_of(specification.origin, name));
  }
  run.files = number_of("files", files_of(specification));
  run.folders = number_of("folders", specification.plugin_folders);
  const auto table = [&](const char* name) { return " " + run.table(name); };
  std::vector<std::string> together;
  if (is_application(specification)) {
    together = {"app" + table("app") + table("data")};
  } else {
    const std::string width = specification.config.at("model").at("width").dump();
    together = {"tokenizer" + table("tokenizer"), "optimizer" + table("optimizer"),
                "schedule" + table("schedule") + " " + width,
                "model" + table("model") + table("train") + table("data") + table("task")};
  }
  const std::string plugins = " " + std::to_string(run.folders);
  bool is_new = false;
  for (const std::string& tables : together) is_new = asked_.insert(tables + plugins).second || is_new;
  if (is_new) runs_.push_back(std::move(run));
  return is_new;
}

std::string CheckRequest::text() const {
  return to_json_object(*this).dump();
}

CheckRequest CheckRequest::parse(const std::string& text) try {
  return from_json_object<CheckRequest>(parse_json(text));
} catch (const std::exception& error) {
  throw Error(std::string("check: the request on standard input cannot be read: ") + error.what());
}

config::Origins CheckRequest::origins(const Run& run) const {
  config::Origins result;
  for (const auto& [name, number] : run.defaults)
    for (const nlohmann::json& key : part(number))
      result[key.get<std::string>()].source = config::Source::fallback;
  return result;
}

Specification CheckRequest::specification(const Run& run) const {
  Specification result;
  result.origin = origins(run);
  for (const auto& [name, number] : run.tables) result.config[name] = part(number);
  for (const auto& [role, file] : part(run.files).items())
    result.data[role] = {file.at(0).get<std::string>(), file.at(1).get<std::string>()};
  result.plugin_folders = part(run.folders).get<std::vector<std::string>>();
  return result;
}

}  // namespace encore::record
