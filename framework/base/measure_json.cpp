// SPDX-License-Identifier: BSD-3-Clause
// Reads and writes measures and statistics as JSON, with messages for users who write such files by hand.
// Stored files hold the names of the members, so they never change. Read measure_json.hpp first.
#include "base/measure_json.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>

#include <encore/error.hpp>
#include <nlohmann/json.hpp>

namespace encore {

namespace {

using Json = nlohmann::json;

struct ReducerName {
  Reducer reducer;
  std::string_view name;
};
constexpr ReducerName reducer_names[] = {
    {Reducer::ratio, "ratio"},
    {Reducer::harmonic_mean, "harmonic_mean"},
    {Reducer::macro_harmonic_mean, "macro_harmonic_mean"},
    {Reducer::exponential, "exponential"},
    {Reducer::area_under_ranks, "area_under_ranks"},
    {Reducer::macro_area_under_ranks, "macro_area_under_ranks"},
    {Reducer::rank_correlation, "rank_correlation"},
    {Reducer::correlation, "correlation"},
    {Reducer::quadratic_kappa, "quadratic_kappa"},
    {Reducer::matthews, "matthews"},
    {Reducer::ngram_precision, "ngram_precision"},
    {Reducer::ngram_f_score, "ngram_f_score"},
    {Reducer::absolute_difference, "absolute_difference"},
    {Reducer::matrix, "matrix"},
    {Reducer::opaque, "opaque"},
};

/// Writes whole numbers without a fraction, which keeps files short.
Json number_json(double value) {
  constexpr double exact = 9007199254740992.0;  // 2^53
  if (!std::isfinite(value)) return nullptr;
  return value == std::floor(value) && std::abs(value) < exact ? Json(static_cast<std::int64_t>(value))
                                                               : Json(value);
}

double number_in(const Json& json, const std::string& column) {
  if (json.is_null()) return std::numeric_limits<double>::quiet_NaN();
  if (!json.is_number())
    throw Error("invalid column \"" + column + "\": expected a number, found " + json.type_name());
  return json.get<double>();
}

void add_to(Json& place, double value) {
  const double before = place.is_null() ? 0.0 : place.get<double>();
  place = before + value;
}

/// Reads a member if it exists. `what` begins the message.
template <class T>
void read(const Json& json, const char* member, const std::string& what, T& to) {
  const auto found = json.find(member);
  if (found == json.end()) return;
  try {
    found->get_to(to);
  } catch (const Json::exception&) {
    throw Error(what + ": invalid \"" + member + "\": expected " + Json(T()).type_name() + ", found " +
                found->type_name());
  }
}

Reducer reducer_in(const std::string& text, const std::string& what) {
  std::string known;
  for (const ReducerName& one : reducer_names) {
    if (one.name == text) return one.reducer;
    known += (known.empty() ? "" : ", ") + std::string(one.name);
  }
  throw Error(what + ": unknown reducer \"" + text + "\": expected one of " + known);
}

void require_name(const std::string& name) {
  const std::size_t open = name.find('{');
  const bool is_sound = !name.empty() && name.find_first_of(" \t\n\"") == std::string::npos &&
                        name.find('}') == (open == std::string::npos ? open : name.size() - 1) &&
                        (open == std::string::npos || (open > 1 && name[open - 1] == '/' &&
                                                       name.find('{', open + 1) == std::string::npos));
  if (!is_sound)
    throw Error("invalid name of a measure \"" + name +
                "\": expected one word (accuracy), or a family with a key after a slash (f1/{label})");
}

}  // namespace

std::string_view name_of(Reducer reducer) {
  return std::find_if(std::begin(reducer_names), std::end(reducer_names),
                      [&](const ReducerName& one) { return one.reducer == reducer; })
      ->name;
}

std::string_view name_of(Better better) {
  return better == Better::higher ? "higher" : better == Better::lower ? "lower" : "neither";
}

nlohmann::json json_of(const Measure& measure) {
  Json json = {{"name", measure.name}, {"reducer", name_of(measure.reducer)}};
  if (!measure.title.empty()) json["title"] = measure.title;
  if (!measure.help.empty()) json["help"] = measure.help;
  if (!measure.unit.empty()) json["unit"] = measure.unit;
  if (measure.fraction) json["fraction"] = true;
  if (measure.better != Better::neither) json["better"] = name_of(measure.better);
  if (!measure.columns.empty()) json["columns"] = measure.columns;
  if (!measure.always) json["always"] = false;
  return json;
}

Measure measure_in(const nlohmann::json& json) {
  if (!json.is_object())
    throw Error(std::string("invalid measure: expected a JSON object, found ") + json.type_name());
  Measure measure;
  read(json, "name", "a measure", measure.name);
  require_name(measure.name);
  const std::string what = "measure \"" + measure.name + "\"";
  std::string reducer = "opaque", better = "neither";
  read(json, "title", what, measure.title);
  read(json, "help", what, measure.help);
  read(json, "unit", what, measure.unit);
  read(json, "fraction", what, measure.fraction);
  read(json, "better", what, better);
  read(json, "reducer", what, reducer);
  read(json, "columns", what, measure.columns);
  read(json, "always", what, measure.always);
  if (better != "higher" && better != "lower" && better != "neither")
    throw Error(what + ": invalid \"better\" \"" + better + "\": expected higher, lower or neither");
  measure.better = better == "higher" ? Better::higher : better == "lower" ? Better::lower : Better::neither;
  measure.reducer = reducer_in(reducer, what);
  if (const std::string problem = column_problem(measure.reducer, measure.columns.size()); !problem.empty())
    throw Error(what + ": reducer " + reducer + ": " + problem);
  return measure;
}

void write_value(nlohmann::json& to, const Measure& measure) {
  to = json_of(measure);
}

void read_value(const nlohmann::json& from, const JsonPlace&, Measure& measure) {
  measure = measure_in(from);
}

nlohmann::json json_of(const Statistics& statistics, std::size_t example) {
  Json sums = Json::object();
  for (const auto* entry = statistics.begin(example); entry != statistics.end(example); ++entry) {
    const std::string& column = statistics.columns()[entry->column];
    Json* place = &sums[column];
    for (const std::uint32_t key : {entry->key, entry->second_key}) {
      if (key == 0) break;
      if (place->is_number())
        throw Error("invalid column \"" + column + "\": some values have keys and others have none");
      place = &(*place)[statistics.keys()[key]];
    }
    if (place->is_object())
      throw Error("invalid column \"" + column + "\": some values have keys and others have none");
    add_to(*place, entry->value);
  }
  const auto shorten = [](const auto& self, Json& json) -> void {
    if (json.is_number())
      json = number_json(json.get<double>());
    else
      for (Json& member : json) self(self, member);
  };
  shorten(shorten, sums);
  return sums;
}

void add_example(Statistics& to, const nlohmann::json& json) {
  if (!json.is_object())
    throw Error(std::string("invalid statistics: expected a JSON object, found ") + json.type_name());
  to.begin_example();
  for (const auto& [column, content] : json.items()) {
    if (!content.is_object()) {
      to.add(column, number_in(content, column));
      continue;
    }
    for (const auto& [key, value] : content.items()) {
      if (!value.is_object()) {
        to.add(column, number_in(value, column), key);
        continue;
      }
      for (const auto& [second_key, count] : value.items())
        to.add(column, number_in(count, column), key, second_key);
    }
  }
}

nlohmann::json json_of(const CountMatrix& matrix) {
  Json json = Json::object();
  for (const auto& [pair, count] : matrix.pairs()) json[pair.first][pair.second] = number_json(count);
  return json;
}

CountMatrix matrix_in(const nlohmann::json& json) {
  CountMatrix matrix;
  if (!json.is_object())
    throw Error(std::string("invalid matrix: expected a JSON object, found ") + json.type_name());
  for (const auto& [truth, row] : json.items()) {
    if (!row.is_object())
      throw Error("invalid row \"" + truth + "\" of a matrix: expected a JSON object, found " +
                  row.type_name());
    for (const auto& [predicted, count] : row.items()) matrix.add(truth, predicted, number_in(count, truth));
  }
  return matrix;
}

}  // namespace encore
