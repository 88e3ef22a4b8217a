// SPDX-License-Identifier: BSD-3-Clause
// One description for each message that crosses a process or a file: a function list(field, value) names each
// field of a struct once. By it the struct is written as JSON and read back, and an error names the field by
// its place: "data.train.examples" is missing. Members that the list does not have are ignored.
//   void list(auto& field, A<Point> auto& point) {
//     field("x", point.x);                   // always written, required
//     field.optional("label", point.label);  // left out if empty, need not be there
//   }
// The list stands beside its struct, in the same namespace. Read next: record/event_fields.hpp, an example.
#pragma once

#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include <encore/error.hpp>

namespace encore {

/// `Struct`, as a constant when it is written.
template <class T, class Struct>
concept A = std::same_as<std::remove_const_t<T>, Struct>;

/// Reports a missing or wrong field: `"data.train.examples" is missing`.
class FieldError : public Error {
 public:
  using Error::Error;
};

/// The place of a value in a message, made into text only for an error.
struct JsonPlace {
  const JsonPlace* above = nullptr;       ///< none: the message itself
  std::string_view name = {};             ///< of the member,
  std::optional<std::size_t> index = {};  ///< or the number of the element

  /// Returns "data.train.lengths.counts[1]", quoted, or "the message".
  std::string text() const;
};

class JsonFieldReader;
template <class T>
concept Listed = requires(JsonFieldReader& field, T& value) {
  list(field, value);
};

template <class T>
inline constexpr bool is_optional = false;
template <class T>
inline constexpr bool is_optional<std::optional<T>> = true;
template <class T>
inline constexpr bool is_vector = false;
template <class T>
inline constexpr bool is_vector<std::vector<T>> = true;
template <class T>
inline constexpr bool is_map = false;
template <class T>
inline constexpr bool is_map<std::map<std::string, T>> = true;

/// Returns the name of a value of an enumeration. Its function names_of(Enum) returns the pairs of values and
/// names. Returns "unknown" for a number without a name.
template <class Enum>
const char* enum_name(Enum value) {
  for (const auto& [known, name] : names_of(value))
    if (known == value) return name;
  return "unknown";
}

// --- writing ---

template <class Json>
class JsonFieldWriter;

/// Writes a value of any type. A number that is not finite becomes null. A type with a form of its own has
/// overloads of write_value and read_value in its namespace.
template <class Json, class T>
void write_value(Json& to, const T& value) {
  if constexpr (std::is_enum_v<T>) {
    to = enum_name(value);
  } else if constexpr (std::floating_point<T>) {
    to = std::isfinite(value) ? Json(value) : Json();
  } else if constexpr (Listed<T>) {
    to = Json::object();
    JsonFieldWriter<Json> field(to);
    list(field, value);
  } else if constexpr (is_optional<T>) {
    to = nullptr;
    if (value) write_value(to, *value);
  } else if constexpr (is_vector<T>) {
    to = Json::array();
    for (const auto& one : value) write_value(to.emplace_back(), one);
  } else if constexpr (is_map<T>) {
    to = Json::object();
    for (const auto& [name, one] : value) write_value(to[name], one);
  } else {
    to = value;
  }
}

template <class Json>
class JsonFieldWriter {
 public:
  explicit JsonFieldWriter(Json& object) : object_(object) {}
  void operator()(const char* key, const auto& value) { write_value(object_[key], value); }
  template <class T>
  void optional(const char* key, const T& value) {
    if (value != T{}) (*this)(key, value);
  }

 private:
  Json& object_;
};

/// `Json` is nlohmann::json, which sorts the members by name, or nlohmann::ordered_json, which keeps the
/// order of the list.
template <class Json = nlohmann::json>
Json to_json_object(const auto& value) {
  Json json;
  write_value(json, value);
  return json;
}

// --- reading ---

[[noreturn]] void refuse_value(const nlohmann::json& from, const JsonPlace& place, const std::string& wanted);

void read_value(const nlohmann::json& from, const JsonPlace& place, std::string& value);
void read_value(const nlohmann::json& from, const JsonPlace& place, bool& value);
/// Null is NaN.
void read_value(const nlohmann::json& from, const JsonPlace& place, double& value);
/// Takes any value as it is.
void read_value(const nlohmann::json& from, const JsonPlace& place, nlohmann::json& value);

template <std::integral T>
void read_value(const nlohmann::json& from, const JsonPlace& place, T& value) {
  const bool fits = from.is_number_unsigned()
                        ? std::in_range<T>(from.get<std::uint64_t>())
                        : from.is_number_integer() && std::in_range<T>(from.get<std::int64_t>());
  if (!fits) refuse_value(from, place, std::is_signed_v<T> ? "a whole number" : "a whole number from 0 on");
  value = from.get<T>();
}

template <class T>
void read_value(const nlohmann::json& from, const JsonPlace& place, T& value);

class JsonFieldReader {
 public:
  JsonFieldReader(const nlohmann::json& object, const JsonPlace& place) : object_(object), place_(place) {}
  void operator()(const char* key, auto& value) { read_value(member(key), {&place_, key}, value); }
  void optional(const char* key, auto& value) {
    if (object_.contains(key)) (*this)(key, value);
  }

 private:
  /// Throws FieldError if it is missing.
  const nlohmann::json& member(const char* key) const;

  const nlohmann::json& object_;
  const JsonPlace& place_;
};

/// A struct whose fields earlier versions wrote differently has a function renewed(json, const Struct&),
/// which returns the object as this version writes it.
template <class T>
void read_value(const nlohmann::json& from, const JsonPlace& place, T& value) {
  if constexpr (std::is_enum_v<T>) {
    std::string name, known;
    read_value(from, place, name);
    for (const auto& [one, text] : names_of(T{})) {
      if (name == text) return void(value = one);
      known += (known.empty() ? "\"" : ", \"") + std::string(text) + "\"";
    }
    throw FieldError(place.text() + " is \"" + name + "\", none of " + known);
  } else if constexpr (is_optional<T>) {
    if (!from.is_null()) read_value(from, place, value.emplace());
  } else if constexpr (is_vector<T>) {
    if (!from.is_array()) refuse_value(from, place, "a list");
    for (const nlohmann::json& one : from) {
      const JsonPlace element{.above = &place, .index = value.size()};
      read_value(one, element, value.emplace_back());
    }
  } else {
    if (!from.is_object()) refuse_value(from, place, "an object");
    if constexpr (is_map<T>) {
      for (const auto& [name, one] : from.items()) read_value(one, {&place, name}, value[name]);
    } else if constexpr (requires { renewed(from, value); }) {
      const nlohmann::json now = renewed(from, value);
      JsonFieldReader field(now, place);
      list(field, value);
    } else {
      JsonFieldReader field(from, place);
      list(field, value);
    }
  }
}

/// Throws FieldError.
template <class Struct>
Struct from_json_object(const nlohmann::json& json) {
  Struct value{};
  read_value(json, {}, value);
  return value;
}

}  // namespace encore
