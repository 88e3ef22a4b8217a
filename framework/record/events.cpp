// SPDX-License-Identifier: BSD-3-Clause
// Makes an event from a line of a spool, and back: event_text() for SpoolWriter, read_event() for all readers
// of spools and of stored events. A type that only a newer program knows is not an error. The fields, whose
// names never change, are in event_fields.hpp. Read events.hpp first.
#include "record/events.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include <nlohmann/json.hpp>

#include "base/json_fields.hpp"
#include "base/json_text.hpp"
#include "record/event_fields.hpp"

namespace encore::record {

using nlohmann::json;

namespace {

constexpr const char* unreadable_type = "unreadable";

/// Returns the event of this type, or nothing for an unknown type.
template <std::size_t number = 0>
std::optional<Event> event_from(const std::string& type, const json& object) {
  if constexpr (number == std::variant_size_v<Event>) {
    return std::nullopt;
  } else {
    using Kind = std::variant_alternative_t<number, Event>;
    if (type != Kind::type) return event_from<number + 1>(type, object);
    return from_json_object<Kind>(object);
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
  return enum_name(level);
}

const char* name_of(CheckpointKind kind) {
  return enum_name(kind);
}

const char* name_of(Ending ending) {
  return enum_name(ending);
}

std::string event_text(const Event& event, double time) {
  return std::visit(
      [&](const auto& one) {
        json object = to_json_object(one);
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

}  // namespace encore::record
