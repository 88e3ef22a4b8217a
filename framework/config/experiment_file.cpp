// SPDX-License-Identifier: BSD-3-Clause
// Reads an experiment file with its bases, merges them, and parses the overrides of the command line. The
// rules of merging stand in experiment_file.hpp; change both together. app/planned_runs.cpp calls
// load_experiment_file(). A change of the rules changes the meaning of existing files.
#include "config/experiment_file.hpp"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "base/input_file.hpp"
#include "base/limits.hpp"
#include "config/check_value.hpp"
#include "config/core_schema.hpp"
#include "config/origin.hpp"
#include "config/toml.hpp"

namespace encore::config {

namespace {

namespace fs = std::filesystem;

/// `named` is the place of the base option that names the file; it is unknown for the file of the command
/// line.
std::string read_text(const fs::path& file, const Place& named) {
  try {
    return read_file(file, most_experiment_bytes);
  } catch (const UnreadableFile& error) {
    if (!named.known())
      throw ConfigErrors({{{file.string(), 0, 0}, "", "the experiment file cannot be read: " + error.why()}});
    throw ConfigErrors(
        {{named, "base", "the base file \"" + file.string() + "\" cannot be read: " + error.why()}});
  }
}

bool has_other_type(const Value& base, const Value& near) {
  const Value::Member* base_type = base.find("type");
  const Value::Member* near_type = near.find("type");
  return base_type != nullptr && near_type != nullptr &&
         to_text(base_type->value) != to_text(near_type->value);
}

// Merges two tables. Options of the base keep their places, and new ones follow.
void merge(Value& base, const Value& near, const std::string& path = {}) {
  std::unordered_map<std::string, std::size_t> places;  // searching for each member would take quadratic time
  for (const Value::Member& member : base.table()) places.emplace(member.key, places.size());
  for (const Value::Member& member : near.table()) {
    const auto found = places.find(member.key);
    Value::Member* below = found == places.end() ? nullptr : &base.table()[found->second];
    const bool both_tables = below != nullptr && below->value.is_table() && member.value.is_table();
    const std::string key = path.empty() ? member.key : path + "." + member.key;
    // A table that names a run is replaced as a whole: file and name belong together.
    if (both_tables && !names_run(key) && !has_other_type(below->value, member.value)) {
      below->key_origin = member.key_origin;
      below->value.origin = member.value.origin;
      merge(below->value, member.value, key);
    } else if (below != nullptr) {
      *below = member;
    } else {
      base.table().push_back(member);
    }
  }
}

/// Two options that set the same thing in two ways. The one that is merged later counts.
struct Alternatives {
  std::vector<std::string> table;
  const char *one, *other;
};
const std::vector<Alternatives>& all_alternatives() {
  static const std::vector<Alternatives> all = {
      {.table = {}, .one = "seed", .other = "seeds"},
      {.table = {"train"}, .one = "epochs", .other = "steps"},
      {.table = {"train"}, .one = "batch_size", .other = "batch_tokens"},
      {.table = {"data"}, .one = "dev", .other = "split"}};
  return all;
}

Value* table_at(Value& root, const std::vector<std::string>& path) {
  Value* table = &root;
  for (const std::string& key : path) {
    Value::Member* member = table->find(key);
    if (member == nullptr) return nullptr;
    table = &member->value;
  }
  return table->is_table() ? table : nullptr;
}

void erase_other(Value& root, const std::vector<std::string>& path) {
  for (const auto& [table, one, other] : all_alternatives())
    for (const auto& [named, erased] : {std::pair(one, other), std::pair(other, one)}) {
      std::vector<std::string> key = table;
      key.emplace_back(named);
      if (Value* of = path == key ? table_at(root, table) : nullptr) of->erase(erased);
    }
}

/// Erases from `base` every option that `near` sets in the other way.
void erase_others(Value& base, const Value& near) {
  for (const auto& [table, one, other] : all_alternatives())
    for (const char* named : {one, other}) {
      std::vector<std::string> key = table;
      key.emplace_back(named);
      if (near.at(key) != nullptr) erase_other(base, key);
    }
}

Value with_base(Value root, const fs::path& file, std::vector<fs::path> chain,
                std::vector<SourceFile>& sources);

Value load_root(const fs::path& file, const Place& named, std::vector<fs::path> chain,
                std::vector<SourceFile>& sources) {
  sources.push_back({file.string(), read_text(file, named)});
  Value root = parse_toml(sources.back().text, file.string());
  return with_base(std::move(root), file, std::move(chain), sources);
}

Value with_base(Value root, const fs::path& file, std::vector<fs::path> chain,
                std::vector<SourceFile>& sources) {
  chain.push_back(fs::weakly_canonical(file));
  const Value::Member* named = root.find("base");
  if (named == nullptr) return root;
  const Place place = named->value.origin.place;
  OptionValue checked;
  if (const auto wrong = check_value(named->value, *top_schema().find("base"), checked))
    throw ConfigErrors({{place, "base", "option \"base\" " + *wrong}});
  fs::path path;
  try {
    path = expand_variables(named->value.text());
  } catch (const Error& error) {
    throw ConfigErrors({{place, "base", std::string("option \"base\" ") + error.what()}});
  }
  if (path.is_relative()) path = file.parent_path() / path;
  if (std::ranges::find(chain, fs::weakly_canonical(path)) != chain.end())
    throw ConfigErrors({{place, "base", "the base file \"" + path.string() + "\" inherits from itself"}});
  if (chain.size() > most_levels)
    throw ConfigErrors(
        {{place, "base", "more than " + std::to_string(most_levels) + " files inherit from each other"}});

  Value base = load_root(path, place, std::move(chain), sources);
  for (const char* own : {"name", "base"}) base.erase(own);
  erase_others(base, root);
  // Only the file itself can vary options, by its own [sweep] or [search].
  if (root.find("sweep") != nullptr || root.find("search") != nullptr)
    for (const char* varied : {"sweep", "search"}) base.erase(varied);
  base.origin = root.origin;
  merge(base, root);
  base.erase("base");
  return base;
}

/// Applies `parse` to each argument of `option` on the command line.
std::vector<Override> parse_all(const std::vector<std::string>& texts, const std::string& option,
                                Override (*parse)(const std::string&), Problems& problems) {
  std::vector<Override> overrides;
  for (const std::string& text : texts) {
    try {
      overrides.push_back(parse(text));
      // The file and its base are merged before overrides apply.
      if (overrides.back().key == "base")
        throw Error(
            "a base cannot be set here; write base = \"other.toml\" at the top of a file that changes it");
    } catch (const Error& error) {
      problems.add({option + ' ' + shortened(text, longest_override), 0, 0}, "", error.what());
    }
  }
  return overrides;
}

/// Refuses two arguments that set one thing in two ways: within one command line, neither comes later.
void refuse_both_ways(const std::vector<Override>& overrides, Problems& problems) {
  const auto find = [&](const std::vector<std::string>& table, const char* option) {
    std::vector<std::string> path = table;
    path.emplace_back(option);
    return std::ranges::find(overrides, path, &Override::path);
  };
  for (const auto& [table, one, other] : all_alternatives()) {
    const auto first = find(table, one), second = find(table, other);
    if (first != overrides.end() && second != overrides.end())
      problems.add(second->value.origin.place, second->key,
                   "this and " + first->value.origin.place.file + " set the same; keep one of them");
  }
}

ExperimentFile with_arguments(const fs::path& file, Value root, std::vector<SourceFile> sources,
                              const std::vector<std::string>& overrides, const SweepTexts& sweep) {
  Problems problems;
  ExperimentFile document{file, std::move(root), parse_all(overrides, "-S", parse_override, problems),
                          parse_all(sweep.grid, "--grid", parse_grid, problems), std::move(sources)};
  if (sweep.seeds)
    for (Override& seeds : parse_all({*sweep.seeds}, "--seeds", parse_seeds, problems))
      document.overrides.push_back(std::move(seeds));
  refuse_both_ways(document.overrides, problems);
  problems.require_none();
  return document;
}

void add_strings(const Value& value, std::set<std::string>& strings) {
  if (value.is_text()) strings.insert(value.text());
  if (value.is_array())
    for (const Value& element : value.array()) add_strings(element, strings);
  if (value.is_table())
    for (const Value::Member& member : value.table()) add_strings(member.value, strings);
}

}  // namespace

ExperimentFile load_experiment_file(const fs::path& file, const std::vector<std::string>& overrides,
                                    const SweepTexts& sweep) {
  std::vector<SourceFile> sources;
  Value root = load_root(file, {}, {}, sources);
  return with_arguments(file, std::move(root), std::move(sources), overrides, sweep);
}

ExperimentFile parse_experiment_file(const std::string& text, const fs::path& name,
                                     const std::vector<std::string>& overrides, const SweepTexts& sweep) {
  std::vector<SourceFile> sources = {{name.string(), text}};
  Value root = with_base(parse_toml(text, name.string()), name, {}, sources);
  return with_arguments(name, std::move(root), std::move(sources), overrides, sweep);
}

void apply_overrides(Value& root, const std::vector<Override>& overrides, Problems& problems) {
  for (const Override& set : overrides) {
    erase_other(root, set.path);
    if (!root.set(set.path, set.value, set.value.origin))
      problems.add(set.value.origin.place, set.key,
                   "\"" + set.key + "\" goes through a value that is not a table");
  }
}

std::set<std::string> strings_of(const ExperimentFile& document) {
  std::set<std::string> strings;
  add_strings(document.root, strings);
  for (const std::vector<Override>* overrides : {&document.overrides, &document.grid})
    for (const Override& one : *overrides) add_strings(one.value, strings);
  return strings;
}

std::vector<fs::path> plugin_folders(const ExperimentFile& document) {
  Problems problems;
  Value root = document.root;
  apply_overrides(root, document.overrides, problems);
  std::vector<fs::path> folders;
  const Value::Member* member = root.find("plugin_path");
  OptionValue checked;
  if (member == nullptr) return folders;
  if (const auto wrong = check_value(member->value, *top_schema().find("plugin_path"), checked)) {
    problems.add(member->value.origin.place, "plugin_path", "option \"plugin_path\" " + *wrong);
    problems.require_none();
  }
  for (const Value& entry : member->value.array()) {
    try {
      folders.emplace_back(resolve_path(entry.text(), entry.origin, {}));
      if (!fs::is_directory(folders.back()))
        throw Error("names \"" + folders.back().string() + "\", which is not a folder");
    } catch (const Error& error) {
      problems.add(entry.origin.place, "plugin_path", std::string("option \"plugin_path\" ") + error.what());
    }
  }
  problems.require_none();
  return folders;
}

}  // namespace encore::config
