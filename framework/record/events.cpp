// SPDX-License-Identifier: BSD-3-Clause
// Writes events as JSON and reads them back, by the lists of their fields (event_fields.hpp). This file
// handles values of every type and knows no event, so a new event or field needs no change here. SpoolWriter
// and SpoolReader call it. Read events.hpp first.
#include "record/events.hpp"

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

#include <encore/error.hpp>
#include <nlohmann/json.hpp>

#include "base/json_text.hpp"
#include "record/event_fields.hpp"

namespace encore {

using nlohmann::json;

namespace {

constexpr const char* unreadable_type = "unreadable";

// --- writing ---

template <class Struct>
json object_of(const Struct& value);

json to_value(const std::string& value) {
  return value;
}
json to_value(bool value) {
  return value;
}
json to_value(std::int64_t value) {
  return value;
}
json to_value(double value) {
  return value;
}
json to_value(const JsonText& value) {
  return value.value();
}
json to_value(const MeasuredValues& measures) {
  json values = json::object();
  for (const MeasuredValue& measure : measures) values[measure.name] = measure.value;
  return values;
}
template <class T>
json to_value(const std::optional<T>& value);
template <class T>
json to_value(const std::vector<T>& list);
template <class T>
json to_value(const std::map<std::string, T>& map);
template <class T>
json to_value(const T& value) {
  if constexpr (std::is_enum_v<T>)
    return event_fields::name_in(value);
  else
    return object_of(value);
}
template <class T>
json to_value(const std::optional<T>& value) {
  return value ? to_value(*value) : json();
}
template <class T>
json to_value(const std::vector<T>& list) {
  json values = json::array();
  for (const T& one : list) values.push_back(to_value(one));
  return values;
}
template <class T>
json to_value(const std::map<std::string, T>& map) {
  json values = json::object();
  for (const auto& [name, one] : map) values[name] = to_value(one);
  return values;
}

class Writer {
 public:
  explicit Writer(json& object) : object_(object) {}
  void operator()(const char* key, const auto& value) { object_[key] = to_value(value); }
  template <class T>
  void optional(const char* key, const T& value) {
    if (value != T{}) (*this)(key, value);
  }

 private:
  json& object_;
};

template <class Struct>
json object_of(const Struct& value) {
  json object = json::object();
  Writer writer(object);
  event_fields::list(writer, value);
  return object;
}

// --- reading ---

/// Reports a missing or wrong field: `"data.train.examples" is missing`.
class FieldError : public Error {
 public:
  using Error::Error;
};

[[noreturn]] void refuse(const std::string& place, const json& value, const char* wanted) {
  const char* is = value.is_number()    ? "a number"
                   : value.is_string()  ? "a text"
                   : value.is_boolean() ? "true or false"
                   : value.is_null()    ? "null"
                   : value.is_array()   ? "a list"
                                        : "an object";
  throw FieldError("\"" + place + "\" is " + is + ", not " + wanted);
}

template <class Struct>
void read_object(const json& object, const std::string& place, Struct& value);

void read(const json& from, const std::string& place, std::string& value) {
  if (!from.is_string()) refuse(place, from, "a text");
  value = from.get<std::string>();
}
void read(const json& from, const std::string& place, bool& value) {
  if (!from.is_boolean()) refuse(place, from, "true or false");
  value = from.get<bool>();
}
void read(const json& from, const std::string& place, std::int64_t& value) {
  constexpr auto most = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  if (!from.is_number_integer() || (from.is_number_unsigned() && from.get<std::uint64_t>() > most))
    refuse(place, from, "a whole number");
  value = from.get<std::int64_t>();
}
/// A number that is not finite is written as null.
void read(const json& from, const std::string& place, double& value) {
  if (!from.is_number() && !from.is_null()) refuse(place, from, "a number");
  value = from.is_null() ? std::numeric_limits<double>::quiet_NaN() : from.get<double>();
}
void read(const json& from, const std::string& place, JsonText& value) {
  if (!from.is_object() && !from.is_null()) refuse(place, from, "an object");
  if (!from.is_null()) value = JsonText(from);
}
void read(const json& from, const std::string& place, MeasuredValues& measures) {
  if (!from.is_object()) refuse(place, from, "an object");
  for (const auto& [name, value] : from.items())
    read(value, place + "." + name, measures.emplace_back(name).value);
}
template <class T>
void read(const json& from, const std::string& place, std::optional<T>& value) {
  if (from.is_null()) return;
  read(from, place, value.emplace());
}
template <class T>
void read(const json& from, const std::string& place, std::vector<T>& list);
template <class T>
void read(const json& from, const std::string& place, std::map<std::string, T>& map);
template <class T>
void read(const json& from, const std::string& place, T& value) {
  if constexpr (std::is_enum_v<T>) {
    std::string name, known;
    read(from, place, name);
    for (const auto& [one, text] : event_fields::names_of(T{})) {
      if (name == text) return void(value = one);
      known += (known.empty() ? "\"" : ", \"") + std::string(text) + "\"";
    }
    throw FieldError("\"" + place + "\" is \"" + name + "\", none of " + known);
  } else {
    read_object(from, place, value);
  }
}
template <class T>
void read(const json& from, const std::string& place, std::vector<T>& list) {
  if (!from.is_array()) refuse(place, from, "a list");
  for (const json& one : from) {
    const std::string element = place + "[" + std::to_string(list.size()) + "]";
    read(one, element, list.emplace_back());
  }
}
template <class T>
void read(const json& from, const std::string& place, std::map<std::string, T>& map) {
  if (!from.is_object()) refuse(place, from, "an object");
  for (const auto& [name, one] : from.items()) read(one, place + "." + name, map[name]);
}

class Reader {
 public:
  Reader(const json& object, const std::string& place) : object_(object), place_(place) {}
  void operator()(const char* key, auto& value) {
    const auto found = object_.find(key);
    if (found == object_.end()) throw FieldError("\"" + place_of(key) + "\" is missing");
    read(*found, place_of(key), value);
  }
  void optional(const char* key, auto& value) {
    if (object_.contains(key)) (*this)(key, value);
  }

 private:
  std::string place_of(const char* key) const { return place_.empty() ? key : place_ + "." + key; }

  const json& object_;
  const std::string& place_;
};

template <class Struct>
void read_object(const json& object, const std::string& place, Struct& value) {
  if (!object.is_object()) refuse(place, object, "an object");
  if constexpr (std::same_as<Struct, SetFacts>) {
    const json now = event_fields::renewed(object);
    Reader reader(now, place);
    event_fields::list(reader, value);
  } else {
    Reader reader(object, place);
    event_fields::list(reader, value);
  }
}

/// Returns the event of this type, or nothing for an unknown type.
template <std::size_t number = 0>
std::optional<Event> event_from(const std::string& type, const json& object) {
  if constexpr (number == std::variant_size_v<Event>) {
    return std::nullopt;
  } else {
    using Kind = std::variant_alternative_t<number, Event>;
    if (type != Kind::type) return event_from<number + 1>(type, object);
    Kind event;
    read_object(object, "", event);
    return event;
  }
}

ReadEvent unreadable(const std::string& reason) {
  return {.type = unreadable_type,
          .body = json{{"type", unreadable_type}, {"reason", reason}}.dump(-1, ' ', false,
                                                                           json::error_handler_t::replace),
          .event = std::nullopt,
          .problem = reason};
}

}  // namespace

JsonText::JsonText(const json& value) : text(value.dump(-1, ' ', false, json::error_handler_t::replace)) {}

json JsonText::value() const {
  return json_or_null(text);
}

const char* name_of(LogLevel level) {
  return event_fields::name_in(level);
}

const char* name_of(CheckpointKind kind) {
  return event_fields::name_in(kind);
}

const char* name_of(Ending ending) {
  return event_fields::name_in(ending);
}

std::string event_text(const Event& event, double time) {
  return std::visit(
      [&](const auto& one) {
        json object = object_of(one);
        object["type"] = one.type;
        object["time"] = time;
        return object.dump(-1, ' ', false, json::error_handler_t::replace);
      },
      event);
}

ReadEvent read_event(std::string_view text) {
  try {
    const json object = parse_json(text);
    const auto type = object.is_object() ? object.find("type") : object.end();
    if (type == object.end() || !type->is_string()) return unreadable("no object with a type");
    ReadEvent read{.type = type->get<std::string>(), .body = std::string(text), .event = std::nullopt};
    if (const auto time = object.find("time"); time != object.end() && time->is_number())
      read.time = time->get<double>();
    try {
      read.event = event_from(read.type, object);
    } catch (const FieldError& error) {
      read.problem = "event \"" + read.type + "\": " + error.what();
    }
    return read;
  } catch (const JsonError& error) {
    return unreadable(error.what());
  }
}

}  // namespace encore
