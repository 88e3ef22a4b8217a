// SPDX-License-Identifier: BSD-3-Clause
// Reads, checks and writes the manifests of plugins as JSON; catalogue.cpp loads them. Read manifest.hpp
// first: it lists all fields. A new field is optional, so that manifests of older builds stay valid.
#include "config/manifest.hpp"

#include <algorithm>
#include <functional>
#include <map>

#include <nlohmann/json.hpp>

#include "base/input_file.hpp"
#include "base/json_text.hpp"
#include "base/limits.hpp"
#include "base/measure_json.hpp"
#include "base/measures.hpp"
#include "config/core_schema.hpp"
#include "config/schema_json.hpp"
#include "config/selection.hpp"

namespace encore::config {

namespace {

using nlohmann::json;

constexpr int manifest_format = 2;
constexpr Kind all_kinds[] = {Kind::layer,    Kind::head, Kind::tokenizer, Kind::optimizer,
                              Kind::schedule, Kind::task, Kind::reader,    Kind::step};

const json& member(const json& object, const char* name, json::value_t type, const std::string& owner) {
  const auto found = object.find(name);
  if (found == object.end()) throw Error(owner + " has no \"" + name + "\"");
  const bool fits =
      type == json::value_t::number_integer ? found->is_number_integer() : found->type() == type;
  if (!fits)
    throw Error("\"" + std::string(name) + "\" of " + owner + " has the wrong type: " + found->dump());
  return *found;
}

std::string text_member(const json& object, const char* name, const std::string& owner) {
  return member(object, name, json::value_t::string, owner).get<std::string>();
}

std::vector<std::string> text_list_member(const json& object, const char* name, const std::string& owner) {
  const json& list = member(object, name, json::value_t::array, owner);
  if (!std::ranges::all_of(list, [](const json& entry) { return entry.is_string(); }))
    throw Error("\"" + std::string(name) + "\" of " + owner + " has the wrong type: " + list.dump());
  return list.get<std::vector<std::string>>();
}

/// Reads the optional fields of a reader, each the name alone or {"field", "option", "value"}.
std::vector<OptionalField> optional_fields_in(const json& in, const std::string& owner) {
  std::vector<OptionalField> fields;
  for (const json& entry : member(in, "may_give", json::value_t::array, owner)) {
    const std::string place = "\"may_give\" of " + owner;
    if (entry.is_string()) {
      fields.push_back({.name = entry.get<std::string>()});
      continue;
    }
    if (!entry.is_object()) throw Error(place + " has the wrong type: " + in["may_give"].dump());
    OptionalField field = {.name = text_member(entry, "field", place),
                           .option = text_member(entry, "option", place)};
    if (entry.contains("value")) field.value = text_member(entry, "value", place);
    fields.push_back(std::move(field));
  }
  return fields;
}

json json_of(const OptionalField& field) {
  if (field.option.empty()) return field.name;
  json out = {{"field", field.name}, {"option", field.option}};
  if (!field.value.empty()) out["value"] = field.value;
  return out;
}

/// Returns false if the field is absent from the records under these options.
bool may_be_given(const OptionalField& field, const Schema& schema, const Options& options) {
  const auto given = options.values().find(field.option);
  if (given == options.values().end()) return true;
  if (!field.value.empty()) {
    const auto* text = std::get_if<std::string>(&given->second);
    return text == nullptr || *text == field.value;
  }
  const Option* option = schema.find(field.option);
  return option == nullptr || !option->fallback || given->second != *option->fallback;
}

/// Returns the fields that the task needs and that the reader gives neither by default nor as an optional
/// field that counts.
std::vector<std::string> fields_missing(const ManifestOffer& task, const ManifestOffer& reader,
                                        const std::function<bool(const OptionalField&)>& counts) {
  std::vector<std::string> missing;
  for (const std::vector<std::string>* fields : {&task.needs.structure, &task.needs.truth})
    for (const std::string& name : *fields)
      if (std::ranges::find(reader.gives, name) == reader.gives.end() &&
          std::ranges::none_of(reader.may_give, [&](const OptionalField& field) {
            return field.name == name && counts(field);
          }))
        missing.push_back(name);
  return missing;
}

/// Refuses names under which runs would store two values as one.
void require_own_names(const std::vector<Measure>& measures, const std::string& owner) {
  for (const Measure& measure : measures) {
    const auto same = [&](const Measure& other) { return other.name == measure.name; };
    if (std::ranges::count_if(measures, same) > 1)
      throw Error(owner + " declares the measure \"" + measure.name + "\" twice");
    for (const Measure& other : measures)
      if (&other != &measure && key_in_name(measure, other.name))
        throw Error(owner + " declares the measure \"" + other.name +
                    "\", which could be one of the family \"" + measure.name + "\"");
    if (same(loss_measure()))
      throw Error(owner + " declares a measure \"" + measure.name + "\", which every run has already");
  }
}

void read_measures(const json& in, const std::string& owner, ManifestOffer& offer) {
  const json& measures = member(in, "measures", json::value_t::array, owner);
  if (measures.size() > most_declared)
    throw Error(owner + " declares " + std::to_string(measures.size()) + " measures; at most " +
                std::to_string(most_declared) + " are read");
  try {
    for (const json& measure : measures) offer.measures.push_back(measure_in(measure));
  } catch (const Error& error) {
    throw Error(owner + ": " + error.what());
  }
  require_own_names(offer.measures, owner);
}

void read_step(const json& in, const std::string& owner, ManifestOffer& offer) {
  read_measures(in, owner, offer);
  offer.asks_model = member(in, "asks_model", json::value_t::boolean, owner).get<bool>();
  offer.select = text_member(in, "select", owner);
  if (offer.select.empty()) return;
  if (const auto problem = selection_problem(offer.select, offer.measures, owner))
    throw Error("\"select\" of " + owner + " " + *problem);
}

void read_task(const json& in, const std::string& owner, ManifestOffer& offer) {
  const json& needs = member(in, "needs", json::value_t::object, owner);
  offer.needs = {text_list_member(needs, "structure", "the needs of " + owner),
                 text_list_member(needs, "truth", "the needs of " + owner)};
  if (needs.contains("optional"))
    offer.needs.optional = text_list_member(needs, "optional", "the needs of " + owner);
  read_measures(in, owner, offer);
  offer.select = text_member(in, "select", owner);
  if (const auto problem = selection_problem(offer.select, offer))
    throw Error("\"select\" of " + owner + " " + *problem);
  if (!in.contains("adopted")) return;
  const std::string adopted = "\"adopted\" of " + owner;
  for (const json& model : member(in, "adopted", json::value_t::array, owner)) {
    if (!model.is_object()) throw Error(adopted + " must hold objects, found " + model.dump());
    offer.adopted.push_back({.architecture = text_member(model, "architecture", adopted),
                             .task_options = text_list_member(model, "task_options", adopted),
                             .head = text_member(model, "head", adopted),
                             .head_options = text_list_member(model, "head_options", adopted),
                             .reader = text_member(model, "reader", adopted)});
  }
}

Space space_in(const json& in, const std::string& owner) {
  if (in.is_string())
    for (const Space space : {Space::tokens, Space::target, Space::sequences, Space::picked, Space::ragged})
      if (in.get<std::string>() == encore::name_of(space)) return space;
  throw Error("\"forms\" of " + owner + " has the unknown space " + in.dump());
}

std::vector<Space> spaces_in(const json& form, const char* name, const std::string& owner) {
  std::vector<Space> spaces;
  for (const json& space : member(form, name, json::value_t::array, owner))
    spaces.push_back(space_in(space, owner));
  return spaces;
}

std::vector<HeadValue> values_in(const json& form, const char* name, const std::string& owner) {
  std::vector<HeadValue> values;
  for (const json& value : member(form, name, json::value_t::array, owner)) {
    const std::string type = text_member(value, "type", owner);
    values.push_back({.name = text_member(value, "name", owner),
                      .space = space_in(member(value, "space", json::value_t::string, owner), owner),
                      .type = type == "integers" ? ColumnType::integers : ColumnType::numbers,
                      .width = text_member(value, "width", owner),
                      .below = text_member(value, "below", owner),
                      .on_request = value.contains("on_request") &&
                                    member(value, "on_request", json::value_t::boolean, owner).get<bool>()});
  }
  return values;
}

json json_of(const std::vector<Space>& spaces) {
  json all = json::array();
  for (const Space space : spaces) all.push_back(encore::name_of(space));
  return all;
}

json json_of(const std::vector<HeadValue>& values) {
  json all = json::array();
  for (const HeadValue& value : values) {
    all.push_back({{"name", value.name},
                   {"space", encore::name_of(value.space)},
                   {"type", value.type == ColumnType::integers ? "integers" : "numbers"},
                   {"width", value.width},
                   {"below", value.below}});
    if (value.on_request) all.back()["on_request"] = true;
  }
  return all;
}

/// Reads the forms of a head. A manifest of an older build has none.
void read_forms(const json& in, const std::string& owner, ManifestOffer& offer) {
  if (!in.contains("forms")) return;
  const std::string forms = "\"forms\" of " + owner;
  for (const json& form : member(in, "forms", json::value_t::array, owner))
    offer.forms.push_back(
        {.targets = spaces_in(form, "targets", forms),
         .reads = spaces_in(form, "reads", forms),
         .columns = values_in(form, "columns", forms),
         .optional_columns = values_in(form, "optional_columns", forms),
         .outputs = values_in(form, "outputs", forms),
         .ties = text_list_member(form, "ties", forms),
         .couples_sequences = member(form, "couples_sequences", json::value_t::boolean, forms).get<bool>()});
}

/// Refuses options with reserved names: `type` chooses the plugin in every table, and [data] has options of
/// Encore's own.
void require_free_options(const ManifestOffer& offer, const std::string& owner) {
  if (offer.options.find("type") != nullptr)
    throw Error(owner + " declares an option \"type\", which is reserved");
  for (const Option& option : host_options(offer.kind).options())
    if (offer.options.find(option.name) != nullptr)
      throw Error(owner + " declares an option \"" + option.name + "\", which [" + table_of(offer.kind) +
                  "] has of its own; give it another name");
}

ManifestOffer offer_from_json(const json& in) {
  if (!in.is_object()) throw Error("an offer must be an object, found " + in.dump());
  ManifestOffer offer;
  offer.kind = kind_from_name(text_member(in, "kind", "an offer"));
  offer.name = text_member(in, "name", "an offer");
  const std::string owner = title_of(offer.kind, offer.name);
  offer.version = member(in, "version", json::value_t::number_integer, owner).get<int>();
  if (in.contains("summary")) offer.summary = text_member(in, "summary", owner);
  try {
    offer.options = schema_from_json(member(in, "options", json::value_t::array, owner));
  } catch (const Error& error) {
    throw Error(owner + ": " + error.what());
  }
  require_free_options(offer, owner);
  if (offer.kind == Kind::task) read_task(in, owner, offer);
  if (offer.kind == Kind::step) read_step(in, owner, offer);
  if (offer.kind == Kind::head) read_forms(in, owner, offer);
  if (offer.kind == Kind::reader) offer.gives = text_list_member(in, "gives", owner);
  if (offer.kind == Kind::reader && in.contains("may_give")) offer.may_give = optional_fields_in(in, owner);
  return offer;
}

/// Returns everything that a manifest states, keyed by the name that messages use.
std::map<std::string, std::string> statements(const Manifest& manifest) {
  std::map<std::string, std::string> all = {{"its name", manifest.name},
                                            {"its version", manifest.version},
                                            {"its fingerprint", manifest.fingerprint}};
  for (const ManifestOffer& offer : manifest.offers) {
    const std::string owner = title_of(offer.kind, offer.name);
    all[owner] = "version " + std::to_string(offer.version);
    const json described = offer_to_json(offer);
    for (const char* part : {"summary", "needs", "select", "asks_model", "adopted", "gives", "may_give"})
      if (described.contains(part))
        all["the \"" + std::string(part) + "\" of " + owner] = described[part].dump();
    for (const json& option : described["options"])
      all["option " + option["name"].dump() + " of " + owner] = option.dump();
    for (const Measure& measure : offer.measures)
      all["measure \"" + measure.name + "\" of " + owner] = json_of(measure).dump();
  }
  return all;
}

}  // namespace

std::string title_of(Kind kind, const std::string& name) {
  return std::string(encore::name_of(kind)) + " \"" + name + "\"";
}

Kind kind_from_name(const std::string& name) {
  for (const Kind kind : all_kinds)
    if (name == encore::name_of(kind)) return kind;
  throw Error("it offers something of the unknown kind \"" + name + "\"");
}

std::vector<std::string> names_of_kinds() {
  std::vector<std::string> names;
  for (const Kind kind : all_kinds) names.emplace_back(encore::name_of(kind));
  return names;
}

std::string with_article(Kind kind) {
  return (kind == Kind::optimizer ? "an " : "a ") + std::string(encore::name_of(kind));
}

std::vector<std::string> optional_names(const ManifestOffer& reader) {
  std::vector<std::string> names;
  for (const OptionalField& field : reader.may_give) names.push_back(field.name);
  return names;
}

std::vector<std::string> missing_fields(const ManifestOffer& task, const ManifestOffer& reader) {
  return fields_missing(task, reader, [](const OptionalField&) { return true; });
}

std::vector<std::string> missing_fields(const ManifestOffer& task, const ManifestOffer& reader,
                                        const Options& options) {
  return fields_missing(
      task, reader, [&](const OptionalField& field) { return may_be_given(field, reader.options, options); });
}

json offer_to_json(const ManifestOffer& offer) {
  json out = {{"kind", encore::name_of(offer.kind)},
              {"name", offer.name},
              {"version", offer.version},
              {"summary", offer.summary},
              {"options", schema_to_json(offer.options)}};
  if (offer.kind == Kind::task || offer.kind == Kind::step) {
    out["measures"] = json::array();
    for (const Measure& measure : offer.measures) out["measures"].push_back(json_of(measure));
    out["select"] = offer.select;
  }
  if (offer.kind == Kind::step) out["asks_model"] = offer.asks_model;
  if (offer.kind == Kind::task) {
    out["needs"] = {{"structure", offer.needs.structure}, {"truth", offer.needs.truth}};
    if (!offer.needs.optional.empty()) out["needs"]["optional"] = offer.needs.optional;
    for (const AdoptedModel& model : offer.adopted)
      out["adopted"].push_back({{"architecture", model.architecture},
                                {"task_options", model.task_options},
                                {"head", model.head},
                                {"head_options", model.head_options},
                                {"reader", model.reader}});
  }
  for (const HeadForm& form : offer.forms)
    out["forms"].push_back({{"targets", json_of(form.targets)},
                            {"reads", json_of(form.reads)},
                            {"columns", json_of(form.columns)},
                            {"optional_columns", json_of(form.optional_columns)},
                            {"outputs", json_of(form.outputs)},
                            {"ties", form.ties},
                            {"couples_sequences", form.couples_sequences}});
  if (offer.kind == Kind::reader) out["gives"] = offer.gives;
  for (const OptionalField& field : offer.may_give) out["may_give"].push_back(json_of(field));
  return out;
}

json manifest_to_json(const Manifest& manifest) {
  json offers = json::array();
  for (const ManifestOffer& offer : manifest.offers) offers.push_back(offer_to_json(offer));
  return {{"format", manifest_format},   {"name", manifest.name},
          {"version", manifest.version}, {"fingerprint", manifest.fingerprint},
          {"library", manifest.library}, {"offers", std::move(offers)}};
}

Manifest manifest_from_json(const json& in) {
  if (!in.is_object()) throw Error("the manifest must be a JSON object");
  const int format = member(in, "format", json::value_t::number_integer, "the manifest").get<int>();
  if (format != manifest_format)
    throw Error("the manifest has format " + std::to_string(format) + ", this program reads format " +
                std::to_string(manifest_format) + "; build the plugin again");
  Manifest manifest;
  manifest.name = text_member(in, "name", "the manifest");
  manifest.version = text_member(in, "version", "the manifest");
  manifest.fingerprint = text_member(in, "fingerprint", "the manifest");
  manifest.library = text_member(in, "library", "the manifest");
  // The library lies beside its manifest, and a path could lead elsewhere.
  if (manifest.library.empty() || manifest.library.find('/') != std::string::npos)
    throw Error("\"library\" of the manifest must be a file name, found \"" + manifest.library + "\"");
  for (const json& offer : member(in, "offers", json::value_t::array, "the manifest"))
    manifest.offers.push_back(offer_from_json(offer));
  return manifest;
}

Manifest load_manifest(const std::filesystem::path& file) {
  try {
    Manifest manifest = manifest_from_json(parse_json(read_file(file, most_json_bytes)));
    manifest.file = file;
    return manifest;
  } catch (const JsonError& error) {
    throw Error(file.string() + ": the manifest cannot be read from " + error.what() +
                "; build the plugin again");
  } catch (const UnreadableFile& error) {
    throw Error(file.string() + ": the manifest cannot be read: " + error.why());
  } catch (const Error& error) {
    throw Error(file.string() + ": " + error.what());
  }
}

std::string manifest_difference(const Manifest& manifest, const Manifest& library) {
  const std::map<std::string, std::string> stated = statements(manifest);
  std::map<std::string, std::string> all = stated;
  const std::map<std::string, std::string> true_ones = statements(library);
  all.insert(true_ones.begin(), true_ones.end());
  const auto value = [](const std::map<std::string, std::string>& from, const std::string& name) {
    const auto found = from.find(name);
    return found == from.end() ? "absent" : found->second;
  };
  std::string difference;
  for (const auto& [name, ignored] : all) {
    const std::string there = value(stated, name), here = value(true_ones, name);
    if (there == here) continue;
    difference +=
        (difference.empty() ? "" : ", ") + name + " is " + there + " in the manifest and " + here + " in it";
  }
  return difference;
}

}  // namespace encore::config
