// SPDX-License-Identifier: BSD-3-Clause
// Makes labels: short texts for values in names of runs, and the options or the number that distinguish equal
// labels. sweep_reader.cpp and run_names.cpp call it. Names of stored runs contain labels; a change affects
// only new names, not identities. Read label.hpp first.
#include "plan/label.hpp"

#include <algorithm>
#include <cctype>
#include <map>
#include <unordered_map>
#include <unordered_set>

namespace encore::plan {

namespace {

using Values = std::vector<const config::Value*>;

std::string option_text(const config::Value& table, const std::string& key) {
  const config::Value::Member* member = table.find(key);
  return member == nullptr ? "" : label_of(member->value);
}

/// Returns the options other than `type` in which the tables differ, in the order of the first table that has
/// each.
std::vector<std::string> differing_options(const Values& tables) {
  std::vector<std::string> keys;
  for (const config::Value* table : tables)
    for (const config::Value::Member& member : table->table()) {
      if (member.key == "type" || std::ranges::find(keys, member.key) != keys.end()) continue;
      const std::string first = option_text(*tables.front(), member.key);
      if (std::ranges::any_of(
              tables, [&](const config::Value* other) { return option_text(*other, member.key) != first; }))
        keys.push_back(member.key);
    }
  return keys;
}

}  // namespace

std::string label_of(const config::Value& value) {
  std::string text;
  if (const config::Value::Member* type = value.find("type")) {
    text = config::to_text(type->value);
  } else if (value.is_table()) {
    text = "table";
  } else if (value.is_array()) {
    for (const config::Value& element : value.array())
      text += (text.empty() ? "" : "+") + config::to_text(element);
  } else {
    text = config::to_text(value);
  }
  while (text.size() > 1 && text.back() == '/') text.pop_back();
  text.erase(0, text.find_last_of('/') + 1);  // keeps the last part of a path; npos + 1 is 0
  for (char& letter : text) {
    const bool fits = std::isalnum(static_cast<unsigned char>(letter)) != 0 ||
                      std::string("._+-").find(letter) != std::string::npos;
    if (!fits) letter = '_';
  }
  return text;
}

std::vector<std::string> labels_of(const std::vector<config::Value>& values) {
  std::map<std::string, Values> tables;  // by their label
  for (const config::Value& value : values)
    if (value.is_table()) tables[label_of(value)].push_back(&value);
  std::map<std::string, std::vector<std::string>> differing;
  for (const auto& [label, group] : tables) differing[label] = differing_options(group);

  std::vector<std::string> labels;
  std::unordered_map<std::string, std::string> known;  // by value: those of a zip may repeat
  std::unordered_set<std::string> taken;
  for (const config::Value& value : values) {
    const auto [entry, is_new] = known.try_emplace(kind_and_text(value), label_of(value));
    std::string& label = entry->second;
    if (is_new) {
      if (value.is_table())
        for (const std::string& key : differing[label_of(value)])
          if (value.find(key) != nullptr) label += "." + key + "=" + option_text(value, key);
      if (taken.contains(label)) label += "." + std::to_string(labels.size() + 1);
      taken.insert(label);
    }
    labels.push_back(label);
  }
  return labels;
}

std::string kind_and_text(const config::Value& value) {
  return config::describe(value) + config::to_text(value);
}

bool is_word(const config::Value& value) {
  if (value.is_table()) return value.find("type") != nullptr;
  const std::string* text = std::get_if<std::string>(&value.data);
  return text != nullptr && !text->empty() && std::isalpha(static_cast<unsigned char>(text->front())) != 0 &&
         std::ranges::all_of(*text, [](unsigned char letter) {
           return std::isalnum(letter) != 0 || letter == '_' || letter == '-';
         });
}

}  // namespace encore::plan
