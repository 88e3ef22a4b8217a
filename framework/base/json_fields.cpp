// SPDX-License-Identifier: BSD-3-Clause
// The reading of single values, and the errors that name their place. The lists of fields are beside their
// structs; read json_fields.hpp first. Users read these errors about files and messages, so their words may
// change; which values are refused may not.
#include "base/json_fields.hpp"

namespace encore {

using nlohmann::json;

std::string JsonPlace::text() const {
  if (above == nullptr) return "the message";
  std::string names;
  for (const JsonPlace* place = this; place->above != nullptr; place = place->above) {
    const std::string here =
        place->index ? "[" + std::to_string(*place->index) + "]" : std::string(place->name);
    names = here + (names.empty() || names.starts_with('[') ? "" : ".") + names;
  }
  return "\"" + names + "\"";
}

void refuse_value(const json& from, const JsonPlace& place, const std::string& wanted) {
  const char* is = from.is_number()    ? "a number"
                   : from.is_string()  ? "a text"
                   : from.is_boolean() ? "true or false"
                   : from.is_null()    ? "null"
                   : from.is_array()   ? "a list"
                                       : "an object";
  throw FieldError(place.text() + " is " + is + ", not " + wanted);
}

void read_value(const json& from, const JsonPlace& place, std::string& value) {
  if (!from.is_string()) refuse_value(from, place, "a text");
  value = from.get<std::string>();
}

void read_value(const json& from, const JsonPlace& place, bool& value) {
  if (!from.is_boolean()) refuse_value(from, place, "true or false");
  value = from.get<bool>();
}

void read_value(const json& from, const JsonPlace& place, double& value) {
  if (!from.is_number() && !from.is_null()) refuse_value(from, place, "a number");
  value = from.is_null() ? std::numeric_limits<double>::quiet_NaN() : from.get<double>();
}

void read_value(const json& from, const JsonPlace&, json& value) {
  value = from;
}

const json& JsonFieldReader::member(const char* key) const {
  const auto found = object_.find(key);
  if (found == object_.end()) throw FieldError(JsonPlace{&place_, key}.text() + " is missing");
  return *found;
}

}  // namespace encore
