// SPDX-License-Identifier: BSD-3-Clause
// The scores that follow from the knowledge, and its JSON: numbers in the shortest form that reads back as
// the same bits, means and factor of the distance as base64 of little-endian float64. decide.cpp and
// fitting.cpp call it. Stored runs have the members, so their names never change. Read knowledge.hpp first.
#include "knowledge.hpp"

#include <bit>
#include <cmath>
#include <cstdint>
#include <utility>

#include <nlohmann/json.hpp>

#include <encore/base64.hpp>
#include <encore/error.hpp>

namespace encore::decide {
namespace {

using Json = nlohmann::json;

constexpr int version = 1;
constexpr std::size_t number_bytes = 8;

[[noreturn]] void refuse(const std::string& problem) {
  throw Error("the stored knowledge of a step \"decide\" is damaged (" + problem +
              "): remove the run and run the application again");
}

std::string base64_of(const std::vector<double>& numbers) {
  std::string bytes;
  bytes.reserve(numbers.size() * number_bytes);
  for (const double number : numbers) {
    auto bits = std::bit_cast<std::uint64_t>(number);
    for (std::size_t k = 0; k < number_bytes; ++k, bits >>= 8) bytes += static_cast<char>(bits & 0xFF);
  }
  return to_base64(bytes);
}

const Json& member(const Json& json, const char* name) {
  if (!json.is_object() || !json.contains(name)) refuse(std::string("no \"") + name + "\"");
  return json.at(name);
}

double number(const Json& json, const char* name) {
  const Json& value = member(json, name);
  if (!value.is_number() || !std::isfinite(value.get<double>()))
    refuse(std::string("\"") + name + "\" is not a number");
  return value.get<double>();
}

std::optional<double> optional_number(const Json& json, const char* name) {
  if (member(json, name).is_null()) return std::nullopt;
  return number(json, name);
}

std::string text(const Json& json, const char* name) {
  const Json& value = member(json, name);
  if (!value.is_string()) refuse(std::string("\"") + name + "\" is not a text");
  return value.get<std::string>();
}

std::vector<double> numbers(const Json& json, const char* name, std::size_t count) {
  const Json& value = member(json, name);
  std::vector<double> numbers;
  if (!value.is_array() || value.size() != count)
    refuse(std::string("\"") + name + "\" is not a list of " + std::to_string(count) + " numbers");
  for (const Json& one : value) {
    if (!one.is_number() || !std::isfinite(one.get<double>()))
      refuse(std::string("\"") + name + "\" has a value that is not a number");
    numbers.push_back(one.get<double>());
  }
  return numbers;
}

std::vector<double> base64_numbers(const Json& json, const char* name) {
  std::string bytes;
  try {
    bytes = from_base64(text(json, name));
  } catch (const Error& error) {
    refuse(error.what());
  }
  if (bytes.size() % number_bytes != 0) refuse(std::string("\"") + name + "\" ends within a number");
  std::vector<double> numbers;
  for (std::size_t i = 0; i < bytes.size(); i += number_bytes) {
    std::uint64_t bits = 0;
    for (std::size_t k = number_bytes; k-- > 0;) bits = bits << 8 | static_cast<unsigned char>(bytes[i + k]);
    numbers.push_back(std::bit_cast<double>(bits));
    if (!std::isfinite(numbers.back()))
      refuse(std::string("\"") + name + "\" has a number that is not finite");
  }
  return numbers;
}

Json optional_json(const std::optional<double>& value) {
  return value ? Json(*value) : Json();
}

Json json_of(const std::optional<Logistic>& fitted) {
  if (!fitted) return {};
  return {{"intercept", fitted->intercept},
          {"weights", fitted->weights},
          {"mean", fitted->mean},
          {"deviation", fitted->deviation}};
}

std::optional<Logistic> logistic_in(const Json& json, std::size_t features) {
  if (json.is_null()) return std::nullopt;
  Logistic fitted{.mean = numbers(json, "mean", features),
                  .deviation = numbers(json, "deviation", features),
                  .weights = numbers(json, "weights", features),
                  .intercept = number(json, "intercept")};
  for (const double deviation : fitted.deviation)
    if (!(deviation > 0.0)) refuse("a deviation is not above 0");
  return fitted;
}

Json json_of(const std::optional<Tested>& tested) {
  if (!tested) return {};
  return {{"threshold", optional_json(tested->threshold)},
          {"failed", optional_json(tested->failed)},
          {"taken", tested->taken},
          {"errors", tested->errors},
          {"bound", tested->bound}};
}

std::optional<Tested> tested_in(const Json& json) {
  if (json.is_null()) return std::nullopt;
  return Tested{.threshold = optional_number(json, "threshold"),
                .failed = optional_number(json, "failed"),
                .taken = number(json, "taken"),
                .errors = number(json, "errors"),
                .bound = number(json, "bound")};
}

std::optional<Distance> distance_in(const Json& json) {
  if (json.is_null()) return std::nullopt;
  const double width = number(json, "width");
  std::vector<double> means = base64_numbers(json, "means"), factor = base64_numbers(json, "factor");
  constexpr double widest = 1 << 20;
  if (!(width >= 1.0 && width <= widest && width == std::floor(width)))
    refuse("\"width\" is not a number of columns");
  const auto columns = static_cast<std::size_t>(width);
  if (means.empty() || means.size() % columns != 0)
    refuse("\"means\" does not have the width of the vectors");
  if (factor.size() != columns * (columns + 1) / 2)
    refuse("\"factor\" does not have the width of the vectors");
  for (std::size_t i = 0, at = 0; i < columns; ++i, at += i + 1)
    if (!(factor[at] > 0.0)) refuse("\"factor\" has a diagonal number that is not above 0");
  Distance distance{.classes = ClassDistance(columns, std::move(means), std::move(factor)),
                    .typical = number(json, "typical")};
  if (!(distance.typical > 0.0)) refuse("\"typical\" is not above 0");
  return distance;
}

Json json_of(const std::optional<Distance>& distance) {
  if (!distance) return {};
  return {{"width", distance->classes.width()},
          {"means", base64_of(distance->classes.means())},
          {"factor", base64_of(distance->classes.factor())},
          {"typical", distance->typical}};
}

}  // namespace

std::vector<double> Knowledge::features(const Request& request, std::optional<std::size_t> own) const {
  std::vector<double> features = {log_odds(*request.scores, *request.label, temperature)};
  if (distance) features.push_back(distance->classes.nearest(*request.vector, own));
  return features;
}

std::vector<double> Knowledge::scope_features(const Request& request, std::vector<double> features) const {
  if (!out_of_scope.empty()) features.push_back(log_odds(*request.scores, out_of_scope, temperature));
  return features;
}

RequestScores Knowledge::scores_of(const Request& request, const std::vector<double>& features) const {
  const double probability = logistic_function(features.front());
  RequestScores scores{.answer = answer ? answer->probability(features) : probability};
  if (scope) {
    scores.scope = scope->probability(scope_features(request, features));
  } else if (distance) {
    const double relative = features[1] / distance->typical;
    scores.scope = relative / (1.0 + relative);
  } else {
    scores.scope = 1.0 - probability;
  }
  return scores;
}

bool Knowledge::may_answer(const Request& request) const {
  return out_of_scope.empty() || *request.label != out_of_scope;
}

std::string knowledge_text(const Knowledge& knowledge) {
  const Json json = {{"version", version},
                     {"temperature", knowledge.temperature},
                     {"distance", json_of(knowledge.distance)},
                     {"answer", json_of(knowledge.answer)},
                     {"scope", json_of(knowledge.scope)},
                     {"out_of_scope", knowledge.out_of_scope},
                     {"frequent", knowledge.frequent},
                     {"thresholds",
                      {{"answer", optional_json(knowledge.thresholds.answer)},
                       {"refuse", optional_json(knowledge.thresholds.refuse)},
                       {"no_refusal", optional_json(knowledge.thresholds.no_refusal)}}},
                     {"findings",
                      {{"examples", knowledge.findings.examples},
                       {"calibration", knowledge.findings.calibration},
                       {"out_of_scope", knowledge.findings.out_of_scope},
                       {"answers", json_of(knowledge.findings.answers)},
                       {"refusals", json_of(knowledge.findings.refusals)}}}};
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Knowledge knowledge_in(std::string_view from) {
  const Json json = Json::parse(from, nullptr, false);
  if (!json.is_object()) refuse("it is not a JSON object");
  if (const double found = number(json, "version"); found != version)
    throw Error("the stored knowledge of a step \"decide\" has version " +
                std::to_string(static_cast<int>(found)) + ": expected version " + std::to_string(version) +
                "; use the version of Encore that made the run");
  Knowledge knowledge{.temperature = number(json, "temperature"),
                      .distance = distance_in(member(json, "distance"))};
  if (!(knowledge.temperature > 0.0)) refuse("\"temperature\" is not above 0");
  knowledge.out_of_scope = text(json, "out_of_scope");
  const std::size_t features = knowledge.distance ? 2 : 1;
  knowledge.answer = logistic_in(member(json, "answer"), features);
  knowledge.scope = logistic_in(member(json, "scope"), features + (knowledge.out_of_scope.empty() ? 0 : 1));
  const Json& frequent = member(json, "frequent");
  if (!frequent.is_array()) refuse("\"frequent\" is not a list");
  for (const Json& one : frequent) {
    if (!one.is_string()) refuse("\"frequent\" has a value that is not a text");
    knowledge.frequent.push_back(one.get<std::string>());
  }
  const Json& thresholds = member(json, "thresholds");
  knowledge.thresholds = {.answer = optional_number(thresholds, "answer"),
                          .refuse = optional_number(thresholds, "refuse"),
                          .no_refusal = optional_number(thresholds, "no_refusal")};
  const Json& findings = member(json, "findings");
  knowledge.findings = {.examples = number(findings, "examples"),
                        .calibration = number(findings, "calibration"),
                        .out_of_scope = number(findings, "out_of_scope"),
                        .answers = tested_in(member(findings, "answers")),
                        .refusals = tested_in(member(findings, "refusals"))};
  return knowledge;
}

}  // namespace encore::decide
