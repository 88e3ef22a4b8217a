// The JSON of the events: each kind lists its fields once, for the writer and for the reader.
#include "record/events.hpp"

#include <array>
#include <concepts>
#include <limits>
#include <utility>

#include <encore/error.hpp>
#include <nlohmann/json.hpp>

#include "config/json_text.hpp"

namespace encore {

using nlohmann::json;

namespace {

constexpr const char* unreadable_type = "unreadable";

template <class Enum>
using EnumNames = std::array<std::pair<Enum, const char*>, 3>;

constexpr EnumNames<LogLevel> level_names = {
    {{LogLevel::info, "info"}, {LogLevel::warning, "warning"}, {LogLevel::error, "error"}}};
constexpr std::array<std::pair<CheckpointKind, const char*>, 2> kind_names = {
    {{CheckpointKind::last, "last"}, {CheckpointKind::best, "best"}}};
constexpr EnumNames<Ending> ending_names = {
    {{Ending::completed, "completed"}, {Ending::interrupted, "interrupted"}, {Ending::failed, "failed"}}};

constexpr const auto& names_of(LogLevel) {
  return level_names;
}
constexpr const auto& names_of(CheckpointKind) {
  return kind_names;
}
constexpr const auto& names_of(Ending) {
  return ending_names;
}

template <class Enum>
const char* name_in(Enum value) {
  for (const auto& [known, name] : names_of(value))
    if (known == value) return name;
  return "unknown";
}

// --- the fields ---

/// `Struct`, constant where it is written.
template <class T, class Struct>
concept A = std::same_as<std::remove_const_t<T>, Struct>;

// `field` for what every version has written, `field.optional` for what came later or may be empty.

void list(auto& field, A<PluginUse> auto& plugin) {
  field("name", plugin.name);
  field("version", plugin.version);
  field("sha256", plugin.sha256);
  field("fingerprint", plugin.fingerprint);
  field.optional("file", plugin.file);
}

void list(auto& field, A<PartSize> auto& part) {
  field("part", part.part);
  field("parameters", part.parameters);
}

void list(auto& field, A<LengthHistogram> auto& lengths) {
  field("width", lengths.width);
  field("counts", lengths.counts);
}

void list(auto& field, A<NamedCount> auto& count) {
  field("name", count.name);
  field("value", count.value);
}

void list(auto& field, A<SetFacts> auto& set) {
  field("examples", set.examples);
  field.optional("tokens", set.tokens);
  field.optional("longest", set.longest);
  field.optional("unknown_pieces", set.unknown_pieces);
  field.optional("lengths", set.lengths);
  field.optional("labels", set.labels);
  field.optional("counts", set.counts);
}

void list(auto& field, A<Started> auto& event) {
  field.optional("numeric_environment", event.numeric_environment);
  field.optional("host", event.host);
  field.optional("build", event.build);
  field.optional("plugins", event.plugins);
  field.optional("threads", event.threads);
  field.optional("pinning", event.pinning);
  field.optional("parameters", event.parameters);
  field.optional("parameter_parts", event.parameter_parts);
  field.optional("parameter_layers", event.parameter_layers);
  field.optional("vocabulary_size", event.vocabulary_size);
  field.optional("resolved_max_length", event.max_length);
  field.optional("labels", event.labels);
  field.optional("data", event.data);
}

void list(auto& field, A<Logged> auto& event) {
  field("level", event.level);
  field("text", event.text);
}

void list(auto& field, A<Progressed> auto& event) {
  field("step", event.step);
  field("total_steps", event.total_steps);
  field("epoch", event.epoch);
  field("loss", event.loss);
  field("learning_rate", event.learning_rate);
  field("tokens_per_second", event.tokens_per_second);
  field("eta_seconds", event.eta_seconds);
  field.optional("step_seconds", event.step_seconds);
  field.optional("longest_pause", event.longest_pause);
  field.optional("activity", event.activity);
  field.optional("activity_share", event.activity_share);
}

void list(auto& field, A<Evaluated> auto& event) {
  field("step", event.step);
  field.optional("epoch", event.epoch);
  field("measures", event.measures);
}

void list(auto& field, A<Digested> auto& event) {
  field("step", event.step);
  field("scope", event.scope);
  field("value", event.sha256);
  field.optional("tensors", event.tensors);
}

void list(auto& field, A<Saved> auto& event) {
  field("step", event.step);
  field("kind", event.kind);
  field("path", event.path);
  field("bytes", event.bytes);
  field("sha256", event.sha256);
}

void list(auto& field, A<Wrote> auto& event) {
  field("name", event.name);
  field("path", event.path);
  field("sha256", event.sha256);
}

void list(auto& field, A<Concluded> auto& event) {
  field("best_step", event.best_step);
  field("measures", event.measures);
}

void list(auto& field, A<Ended> auto& event) {
  field("state", event.ending);
  field("reason", event.reason);
  field("step", event.step);
  field.optional("epochs", event.epochs);
}

void list(auto& field, A<BenchStarted> auto& event) {
  field("host", event.host);
  field("build", event.build);
  field("numeric_environment", event.numeric_environment);
  field("threads", event.threads);
  field("cases", event.cases);
}

void list(auto& field, A<BenchRound> auto& event) {
  field("round", event.round);
  field("warm_up", event.warm_up);
  field("machine", event.machine);
  field.optional("cases", event.cases);
}

void list(auto& field, A<BenchCaseFacts> auto& facts) {
  field("environment", facts.environment);
  field("facts", facts.facts);
}

void list(auto& field, A<BenchFacts> auto& event) {
  field("machine", event.machine);
  field("cases", event.cases);
  field("peak_bytes", event.peak_bytes);
}

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
    return name_in(value);
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
  list(writer, value);
  return object;
}

// --- reading ---

/// `"data.train.examples" is missing`
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
/// null is what is written for a number that is not finite.
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
    for (const auto& [one, text] : names_of(T{})) {
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

/// Facts of a set as they were written before tasks counted for themselves: labels {"words": {...}, "unseen":
/// n}, and what was cut in members of their own.
json renewed(json set) {
  const auto labels = set.find("labels");
  const bool old_labels = labels != set.end() && labels->is_object() && labels->contains("words") &&
                          labels->at("words").is_object();
  if (set.contains("counts") || (!old_labels && !set.contains("cut_sentences"))) return set;
  json counts = json::array();
  const auto count = [&](const json& from, const char* key, const char* name) {
    if (from.contains(key)) counts.push_back({{"name", name}, {"value", from.at(key)}});
  };
  count(set, "cut_sentences", "cut sentences");
  count(set, "cut_words", "cut words");
  count(set, "cut_entities", "cut entities");
  if (old_labels) {
    count(*labels, "unseen", "words with labels not in training");
    set["labels"] = json(labels->at("words"));
  }
  set["counts"] = std::move(counts);
  return set;
}

template <class Struct>
void read_object(const json& object, const std::string& place, Struct& value) {
  if (!object.is_object()) refuse(place, object, "an object");
  if constexpr (std::same_as<Struct, SetFacts>) {
    const json now = renewed(object);
    Reader reader(now, place);
    list(reader, value);
  } else {
    Reader reader(object, place);
    list(reader, value);
  }
}

/// The event of this type; none of a type that is not known.
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
  return name_in(level);
}

const char* name_of(CheckpointKind kind) {
  return name_in(kind);
}

const char* name_of(Ending ending) {
  return name_in(ending);
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
