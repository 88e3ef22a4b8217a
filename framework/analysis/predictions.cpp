// SPDX-License-Identifier: BSD-3-Clause
// Reads the predictions files of runs: each line of JSON as statistics of an example, or as an example to
// show. example_tests.cpp, `exp retrain` and reports call it. Every form of line that an earlier worker wrote
// must stay readable. Read predictions.hpp first.
#include "analysis/predictions.hpp"

#include <algorithm>
#include <optional>
#include <sstream>

#include <nlohmann/json.hpp>

#include "base/input_file.hpp"
#include "base/json_text.hpp"
#include "base/measure_json.hpp"
#include "base/sha256.hpp"
#include "record/run_paths.hpp"
#include "store/legacy_metrics.hpp"

namespace encore::analysis {

namespace {

using Words = std::vector<std::string>;

nlohmann::ordered_json object_in(const std::string& line) {
  nlohmann::ordered_json object;
  try {
    object = parse_json<nlohmann::ordered_json>(line);
  } catch (const JsonError&) {
    throw Error("is not a JSON object");
  }
  if (!object.is_object()) throw Error("is not a JSON object");
  return object;
}

/// Calls `take` with the JSON object of each line. Adds the file and the line to the message of an exception.
template <class Take>
void for_each_example(const std::filesystem::path& file, const Take& take) {
  std::istringstream in(read_file(file));
  std::size_t number = 0;
  for (std::string line; std::getline(in, line);) {
    ++number;
    try {
      take(object_in(line));
    } catch (const Error& error) {
      throw Error(file.string() + ":" + std::to_string(number) + ": " + error.what());
    }
  }
}

std::optional<Words> words_in(const nlohmann::ordered_json& example, const char* field) {
  const auto found = example.find(field);
  if (found == example.end() || !found->is_array()) return std::nullopt;
  Words words;
  for (const auto& word : *found) {
    if (!word.is_string()) return std::nullopt;
    words.push_back(word.get<std::string>());
  }
  return words;
}

/// Returns the text of a part of an input, with its label if it has one; nothing for any other value.
std::optional<std::string> span_text(const nlohmann::ordered_json& value) {
  if (!value.is_object() || !value.contains("text") || !value["text"].is_string()) return std::nullopt;
  std::string text = value["text"].get<std::string>();
  if (value.contains("type") && value["type"].is_string() && value["type"] != "")
    text += " (" + value["type"].get<std::string>() + ")";
  return text;
}

std::string plain_text(const nlohmann::ordered_json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (std::optional<std::string> text = span_text(value)) return *text;
  if (!value.is_array()) return value.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  std::string text;
  for (const auto& part : value) text += (text.empty() ? "" : " ") + plain_text(part);
  return text;
}

/// Returns the truth to show. Parts without a label are alternatives, such as the answers of several people:
/// the result is the one that was predicted, or all different ones.
std::string true_text(const nlohmann::ordered_json& truth, const std::string& predicted) {
  if (!truth.is_array() || truth.size() < 2) return plain_text(truth);
  std::vector<std::string> texts;
  for (const auto& part : truth) {
    if (!span_text(part) || !part.contains("type") || part["type"] != "") return plain_text(truth);
    const std::string text = *span_text(part);
    if (text == predicted) return text;
    if (std::find(texts.begin(), texts.end(), text) == texts.end()) texts.push_back(text);
  }
  std::string all;
  for (const std::string& text : texts) all += (all.empty() ? "" : " / ") + text;
  return all;
}

/// Adds an example of an older file, whose lines have no statistics: they are counted from its labels.
void add_old_example(Statistics& statistics, const nlohmann::ordered_json& example) {
  const std::optional<Words> truth = words_in(example, "truth"), predicted = words_in(example, "predicted");
  if (!truth || !predicted)
    throw Error("has no \"statistics\", and not one label per word in \"truth\" and \"predicted\"");
  store::add_legacy_sentence(statistics, *truth, *predicted);
}

PredictedExample example_in(const nlohmann::ordered_json& json) {
  if (!json.contains("predicted")) throw Error("has no \"predicted\"");
  PredictedExample example{.predicted = plain_text(json["predicted"])};
  if (json.contains("truth")) example.truth = true_text(json["truth"], example.predicted);
  for (const auto& [field, value] : json.items())
    if (field != "example" && field != "truth" && field != "predicted" && field != "statistics")
      example.input.emplace_back(field, plain_text(value));
  const std::optional<Words> words = words_in(json, "words"), truth = words_in(json, "truth"),
                             predicted = words_in(json, "predicted");
  if (!words || !truth || !predicted || words->size() != truth->size() || predicted->size() > truth->size())
    return example;
  example.words = *words;
  example.true_labels = *truth;
  example.predicted_labels = *predicted;
  return example;
}

}  // namespace

std::filesystem::path recorded_artifact(store::Store& store, const store::RunRow& run,
                                        const std::string& name) {
  for (const store::ArtifactRow& artifact : store.read_artifacts(run.number)) {
    if (artifact.name != name) continue;
    std::filesystem::path file = record::path_below(store.run_folder(run.id), artifact.path);
    if (!std::filesystem::exists(file)) throw Error(file.string() + " is gone");
    if (sha256_of_file(file) != artifact.sha256)
      throw Error(file.string() + " is not the file that was recorded");
    return file;
  }
  throw Error("run " + run.name + " stored no " + name);
}

std::string predictions_name(const std::string& split) {
  return "predictions/" + split + ".jsonl";
}

PredictedStatistics read_statistics(const std::filesystem::path& predictions) {
  PredictedStatistics read;
  for_each_example(predictions, [&](const nlohmann::ordered_json& example) {
    const auto found = example.find("statistics");
    if (found != example.end()) return add_example(read.statistics, nlohmann::json(*found));
    read.is_old = true;
    add_old_example(read.statistics, example);
  });
  return read;
}

PredictedExample read_prediction(const std::string& line) {
  return example_in(object_in(line));
}

std::vector<PredictedExample> read_predictions(store::Store& store, const store::RunRow& run,
                                               const std::string& split) {
  std::vector<PredictedExample> examples;
  for_each_example(recorded_artifact(store, run, predictions_name(split)),
                   [&](const nlohmann::ordered_json& example) { examples.push_back(example_in(example)); });
  return examples;
}

}  // namespace encore::analysis
