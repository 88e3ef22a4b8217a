// SPDX-License-Identifier: BSD-3-Clause
// Lists the fields of every event and its parts, by which base/json_fields.hpp writes and reads them. Here
// are also the names of enumerations, values with a form of their own, and a form that earlier versions
// wrote. events.hpp has the structs; events.cpp makes an event of a line of a spool, and back. Stored spools
// and databases have these names, so a name never changes, and a later field is optional.
#pragma once

#include <array>
#include <utility>

#include <nlohmann/json.hpp>

#include "base/json_fields.hpp"
#include "record/events.hpp"

namespace encore::record {

// --- enumerations ---

/// Returns the names of an enumeration with three values.
template <class Enum>
using EnumNames = std::array<std::pair<Enum, const char*>, 3>;

inline constexpr EnumNames<LogLevel> level_names = {
    {{LogLevel::info, "info"}, {LogLevel::warning, "warning"}, {LogLevel::error, "error"}}};
inline constexpr std::array<std::pair<CheckpointKind, const char*>, 2> kind_names = {
    {{CheckpointKind::last, "last"}, {CheckpointKind::best, "best"}}};
inline constexpr EnumNames<Ending> ending_names = {
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

// --- values with a form of their own ---

/// Writes the value itself, or null.
inline void write_value(nlohmann::json& to, const JsonText& value) {
  to = value.value();
}
inline void read_value(const nlohmann::json& from, const JsonPlace& place, JsonText& value) {
  if (!from.is_object() && !from.is_null()) refuse_value(from, place, "an object");
  if (!from.is_null()) value = JsonText(from);
}

/// Writes an object with a member for each value, by its name.
inline void write_value(nlohmann::json& to, const MeasuredValues& measures) {
  to = nlohmann::json::object();
  for (const MeasuredValue& measure : measures) encore::write_value(to[measure.name], measure.value);
}
inline void read_value(const nlohmann::json& from, const JsonPlace& place, MeasuredValues& measures) {
  if (!from.is_object()) refuse_value(from, place, "an object");
  for (const auto& [name, value] : from.items())
    encore::read_value(value, {&place, name}, measures.emplace_back(name).value);
}

// --- the fields ---

// Use `field` for what every version has written, `field.optional` for what was added later or may be empty.

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
  field.optional("unknown_pieces", set.unknown_tokens);
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
  field.optional("ties", event.ties);
  field.optional("undefined", event.undefined);
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

// --- old forms, which are read but no longer written ---

/// Converts facts of a set that were written before tasks counted for themselves: labels {"words": {...},
/// "unseen": n}, and counts of cut examples in members of their own.
inline nlohmann::json renewed(nlohmann::json set, const SetFacts&) {
  const auto labels = set.find("labels");
  const bool old_labels = labels != set.end() && labels->is_object() && labels->contains("words") &&
                          labels->at("words").is_object();
  if (set.contains("counts") || (!old_labels && !set.contains("cut_sentences"))) return set;
  nlohmann::json counts = nlohmann::json::array();
  const auto count = [&](const nlohmann::json& from, const char* key, const char* name) {
    if (from.contains(key)) counts.push_back({{"name", name}, {"value", from.at(key)}});
  };
  count(set, "cut_sentences", "cut sentences");
  count(set, "cut_words", "cut words");
  count(set, "cut_entities", "cut entities");
  if (old_labels) {
    count(*labels, "unseen", "words with labels not in training");
    set["labels"] = nlohmann::json(labels->at("words"));
  }
  set["counts"] = std::move(counts);
  return set;
}

}  // namespace encore::record
