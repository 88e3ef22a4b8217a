// SPDX-License-Identifier: BSD-3-Clause
// Writes predictions as JSON: one line per record, with the value of each field. task_sets.cpp and the verbs
// of the worker call it. Comparisons and reports read the files, so members are only added, never renamed.
// Read prediction_file.hpp first.
#include "tasks/prediction_file.hpp"

#include <fstream>

#include <nlohmann/json.hpp>

#include "base/measure_json.hpp"

namespace encore::tasks {
namespace {

using nlohmann::json;

json value_json(const std::string& text) {
  return text;
}
json value_json(const std::vector<std::string>& texts) {
  return texts;
}
json value_json(double number) {
  return number;
}
json value_json(const std::vector<double>& numbers) {
  return numbers;
}
json value_json(const std::vector<TextSpan>& spans) {
  json list = json::array();
  for (const TextSpan& span : spans) {
    list.push_back({{"type", span.label}, {"text", span.text}, {"start", span.start}, {"end", span.end}});
    if (span.score) list.back()["score"] = *span.score;
    if (span.least_score) list.back()["least_score"] = *span.least_score;
  }
  return list;
}
json value_json(const std::map<std::string, double>& numbers) {
  return numbers;
}
json value_json(const std::vector<std::map<std::string, double>>& lists) {
  return lists;
}

const Records::Field& field_of(const Records& records, const std::string& name) {
  for (const Records::Field& field : records.fields())
    if (field.name == name) return field;
  throw Error("the records have no field \"" + name + "\", which the task needs");
}

/// Returns the truth fields of a record, which a prediction has too: the value if there is one such field,
/// else an object with all of them by name.
json fields_json(const TaskFields& fields, const Records& records, std::size_t record) {
  if (fields.truth.size() == 1) return field_json(field_of(records, fields.truth.front()), record);
  json object = json::object();
  for (const std::string& name : fields.truth) object[name] = field_json(field_of(records, name), record);
  return object;
}

}  // namespace

json field_json(const Records::Field& field, std::size_t record) {
  return std::visit([&](const auto& values) { return value_json(values[record]); }, field.values);
}

std::string answer_json(const Records& answers, std::size_t record) {
  return answer_json(answers, record, json::object());
}

std::string answer_json(const Records& answers, std::size_t record, const json& more) {
  json object = more;
  for (const Records::Field& field : answers.fields())
    // Only people read the line; its values are in the other fields, and its form may change.
    if (field.name != shown_field) object[field.name] = field_json(field, record);
  return object.dump(-1, ' ', false, json::error_handler_t::replace);
}

void write_predictions(const std::filesystem::path& path, const TaskFields& fields, const Records& records,
                       const Records& predicted, const Statistics& statistics) {
  if (predicted.size() != records.size())
    throw Error("the task gives " + std::to_string(predicted.size()) + " predictions for " +
                std::to_string(records.size()) + " records");
  std::ofstream out(path, std::ios::binary);
  for (std::size_t i = 0; i < records.size(); ++i) {
    json line = {{"example", i},
                 {"truth", fields_json(fields, records, i)},
                 {"predicted", fields_json(fields, predicted, i)},
                 {"statistics", json_of(statistics, i)}};
    for (const std::string& name : fields.structure) line[name] = field_json(field_of(records, name), i);
    for (const std::string& name : fields.optional)
      if (records.has(name)) line[name] = field_json(field_of(records, name), i);
    out << line.dump(-1, ' ', false, json::error_handler_t::replace) << '\n';
  }
  out.close();
  if (!out) throw Error(path.string() + ": cannot write the predictions; is the disk full?");
}

}  // namespace encore::tasks
