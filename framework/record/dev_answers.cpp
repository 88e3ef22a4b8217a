// SPDX-License-Identifier: BSD-3-Clause
// Reads the answers to the development set from the predictions of a run. It takes only text, and ignores
// everything else in the file: other versions may have added members. Read dev_answers.hpp first.
#include "record/dev_answers.hpp"

#include <encore/lines.hpp>
#include <nlohmann/json.hpp>

#include "base/input_file.hpp"
#include "base/json_text.hpp"

namespace encore::record {
namespace {

constexpr const char* model_field = "label";
constexpr std::size_t most_classes = 1000;

/// Adds the text of a value, each one of a list, or the types of spans.
void add_values(const nlohmann::json& value, std::vector<std::string>& to) {
  if (value.is_string()) {
    to.push_back(value.get<std::string>());
  } else if (value.is_array()) {
    for (const nlohmann::json& each : value) {
      if (each.is_string()) to.push_back(each.get<std::string>());
      if (each.is_object() && each.contains("type") && each.at("type").is_string())
        to.push_back(each.at("type").get<std::string>());
    }
  }
}

DevAnswer answer_in(const nlohmann::json& line) {
  DevAnswer answer;
  if (!line.is_object() || !line.contains("predicted")) throw Error("\"predicted\" is missing");
  const nlohmann::json& predicted = line.at("predicted");
  if (!predicted.is_object()) {
    add_values(predicted, answer[model_field]);
    return answer;
  }
  for (const auto& [name, value] : predicted.items())
    if (value.is_string() || value.is_array()) add_values(value, answer[name]);
  return answer;
}

}  // namespace

std::vector<DevAnswer> read_dev_answers(const std::filesystem::path& path) {
  std::error_code missing;
  if (!std::filesystem::exists(path, missing)) return {};
  const std::string text = read_file(path);
  std::vector<DevAnswer> answers;
  for (Lines lines(text); lines.next();) try {
      answers.push_back(answer_in(parse_json(lines.line())));
    } catch (const Error& error) {
      throw Error("damaged " + path.string() + ":" + std::to_string(answers.size() + 1) + ": " +
                  error.what());
    }
  return answers;
}

std::map<std::string, std::set<std::string>> classes_in(const std::vector<DevAnswer>& answers) {
  std::map<std::string, std::set<std::string>> values;
  std::map<std::string, std::size_t> counts;
  for (const DevAnswer& answer : answers)
    for (const auto& [field, own] : answer)
      for (const std::string& value : own) {
        ++counts[field];
        if (values[field].size() <= most_classes) values[field].insert(value);
      }
  std::erase_if(values, [&](const auto& field) {
    return field.second.size() > most_classes || 2 * field.second.size() > counts.at(field.first);
  });
  return values;
}

}  // namespace encore::record
