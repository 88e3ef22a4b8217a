// SPDX-License-Identifier: BSD-3-Clause
// BenchResult to and from JSON, for worker reports, for the database and for files of `exp bench --json`.
// benches.cpp, cli/bench_verb.cpp and runner/bench_run.cpp use it. It refuses other versions of the format; a
// changed member needs a new version. Read bench_result.hpp first.
#include "store/bench_result.hpp"

#include <algorithm>
#include <cmath>

#include <encore/error.hpp>

#include "base/input_file.hpp"
#include "base/json_fields.hpp"
#include "base/json_text.hpp"
#include "config/value.hpp"

namespace encore::store {

using nlohmann::json;

namespace {

constexpr int result_format = 1;

}  // namespace

static void list(auto& field, A<BenchCase> auto& one) {
  field("name", one.name);
  field("machine", one.machine);
  field("settings", one.settings);
  field("host", one.host);
  field("build", one.build);
  field("environment", one.environment);
  field("facts", one.facts);
  field("samples", one.samples);
}

static void list(auto& field, A<BenchResult> auto& result) {
  field("name", result.name);
  field("file", result.file);
  field("created", result.created);
  field("settings", result.settings);
  field("noise", result.noise);
  field("cases", result.cases);
}

json BenchResult::to_json() const {
  json result = to_json_object(*this);
  result["format"] = result_format;
  return result;
}

BenchResult BenchResult::from_json(const nlohmann::json& json, const std::string& where) {
  const std::string begin = where + " is not a result of exp bench --json: ";
  if (!json.is_object() || !json.contains("format")) throw Error(begin + "it has no \"format\"");
  if (json["format"] != result_format)
    throw Error(begin + "its format is " + json["format"].dump() + ", this exp reads " +
                std::to_string(result_format));
  try {
    auto result = from_json_object<BenchResult>(json);
    result.require_readable(where);
    return result;
  } catch (const FieldError& error) {
    throw Error(begin + error.what());
  }
}

void BenchResult::require_readable(const std::string& where) const {
  const auto require_object = [&](const json& part, const std::string& what) {
    if (!part.is_object())
      throw Error(where + ": " + what + " must be a JSON object, found " + config::shortened(part.dump()));
  };
  require_object(settings, "settings");
  require_object(noise, "noise");
  for (const BenchCase& one : cases) {
    require_object(one.settings, "settings of case \"" + one.name + "\"");
    if (!one.facts.is_null()) require_object(one.facts, "facts of case \"" + one.name + "\"");
    for (const auto& [quantity, seconds] : one.samples)
      for (const double each : seconds)
        if (!(each >= 0.0) || !std::isfinite(each))
          throw Error(where + ": a sample of \"" + quantity + "\" of case \"" + one.name +
                      "\" must be a number from 0 on, found " + json(each).dump());
  }
}

BenchResult BenchResult::load(const std::filesystem::path& file) {
  const std::string text = read_file(file);
  json parsed;
  try {
    parsed = parse_json(text);
  } catch (const JsonError& error) {
    throw Error(file.string() + " is not a result of exp bench --json: it is not JSON from byte " +
                std::to_string(error.byte()) + " of " + std::to_string(text.size()));
  }
  return from_json(parsed, file.string());
}

const BenchCase* BenchResult::machine_of(const BenchCase& step) const {
  const auto setting = [](const BenchCase& one, const char* name) {
    return one.settings.value(name, json());
  };
  const auto found = std::find_if(cases.begin(), cases.end(), [&](const BenchCase& one) {
    return one.machine && setting(one, "backend") == setting(step, "backend") &&
           setting(one, "threads") == setting(step, "threads");
  });
  return found == cases.end() ? nullptr : &*found;
}

}  // namespace encore::store
