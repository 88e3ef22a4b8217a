// SPDX-License-Identifier: BSD-3-Clause
// Specification: reads and writes specification.json, with a message for each member that is missing or has
// another type. Files of earlier versions must stay readable, so members keep their names and new ones are
// optional. Read specification.hpp first.
#include "record/specification.hpp"

#include <algorithm>
#include <system_error>

#include <encore/error.hpp>

#include "base/input_file.hpp"
#include "base/json_text.hpp"
#include "base/limits.hpp"
#include "config/core_schema.hpp"
#include "config/experiment.hpp"
#include "world/atomic_file.hpp"

namespace encore::record {

namespace {

constexpr int specification_format = 1;
constexpr const char* specification_name = "specification.json";

/// Reads members of one JSON object, with their names in its messages.
class Members {
 public:
  Members(const nlohmann::json& json, const std::string& where) : json_(json), where_(where) {
    if (!json.is_object()) throw Error(where + ": a JSON object is expected");
  }
  template <class T>
  T get(const std::string& name, const char* kind) const {
    const auto found = json_.find(name);
    if (found == json_.end()) throw Error(where_ + ": member \"" + name + "\" is missing");
    try {
      return found->template get<T>();
    } catch (const nlohmann::json::exception&) {
      throw Error(where_ + ": member \"" + name + "\" must be " + kind);
    }
  }
  std::string text(const std::string& name) const { return get<std::string>(name, "a text"); }
  const nlohmann::json& object(const std::string& name) const {
    const auto found = json_.find(name);
    if (found == json_.end()) throw Error(where_ + ": member \"" + name + "\" is missing");
    if (!found->is_object()) throw Error(where_ + ": member \"" + name + "\" must be an object");
    return *found;
  }

 private:
  const nlohmann::json& json_;
  const std::string& where_;
};

}  // namespace

const char* name_of(Ties ties) {
  return ties == Ties::loss ? "loss" : "";
}

nlohmann::json Specification::to_json() const {
  nlohmann::json files = nlohmann::json::object();
  for (const auto& [role, file] : data) files[role] = {{"path", file.path}, {"sha256", file.sha256}};
  nlohmann::json json = {{"format", specification_format},
                         {"run", run},
                         {"name", name},
                         {"seed", seed},
                         {"question", question},
                         {"group", group},
                         {"backend", backend},
                         {"config", config},
                         {"origin", config::origins_to_json(origin)},
                         {"data", files},
                         {"plugin_folders", plugin_folders}};
  if (ties != Ties::first) json["ties"] = name_of(ties);
  if (!types.empty()) json["types"] = types;
  return json;
}

std::string numbered_file(const std::string& role, std::size_t index) {
  return index == 0 ? role : role + "." + std::to_string(index + 1);
}

std::vector<std::string> files_of_role(const std::map<std::string, DataFile>& data, const std::string& role) {
  std::vector<std::string> paths;
  for (auto file = data.find(role); file != data.end(); file = data.find(numbered_file(role, paths.size())))
    paths.push_back(file->second.path);
  return paths;
}

void require_planned(const DataFile& planned, const std::string& role, const std::string& sha256) {
  if (sha256 != planned.sha256)
    throw Error(planned.path + " (" + role +
                ") has changed since the run was planned; run the experiment file again");
}

bool is_application(const Specification& specification) {
  return config::is_application(specification.config);
}

const char* kind_of(const Specification& specification) {
  return is_application(specification) ? "application" : "training";
}

std::map<std::string, RunLink> run_links(const nlohmann::json& config) {
  std::map<std::string, RunLink> links;
  const auto add = [&](const std::string& key, const nlohmann::json::json_pointer& place) {
    const nlohmann::json table = config.value(place, nlohmann::json());
    if (!table.is_object()) return;
    const auto text = [&](const char* name) { return table.value(name, std::string()); };
    links[key] = {text("run"), text("experiment"), text("question")};
  };
  add(pretrained_role, nlohmann::json::json_pointer("/model/from"));
  add(teacher_role, nlohmann::json::json_pointer("/distil/teacher"));
  const nlohmann::json::json_pointer steps("/app/step");
  if (const nlohmann::json tables = config.value(steps, nlohmann::json()); tables.is_object())
    for (const auto& [name, table] : tables.items())
      add(config::step_model_key(name), steps / name / "model");
  return links;
}

bool trains_nothing(const Specification& specification) {
  return specification.config.value(nlohmann::json::json_pointer("/train/epochs"), nlohmann::json()) == 0;
}

Specification Specification::from_json(const nlohmann::json& json, const std::string& where) {
  const Members members(json, where);
  const int format = members.get<int>("format", "a number");
  if (format != specification_format) {
    throw Error(where + ": format " + std::to_string(format) + " is not known, this program reads format " +
                std::to_string(specification_format) + "; build exp and encore-worker from the same source");
  }
  Specification result;
  result.run = members.text("run");
  result.name = members.text("name");
  if (const auto seed = json.find("seed"); seed != json.end() && seed->is_number_integer() &&
                                           !seed->is_number_unsigned() && seed->get<std::int64_t>() < 0) {
    throw Error(where + ": member \"seed\" must not be negative");
  }
  result.seed = members.get<std::uint64_t>("seed", "a number");
  result.question = members.text("question");
  result.group = members.text("group");
  result.backend = members.text("backend");
  result.config = members.object("config");
  for (const auto& [name, table] : result.config.items())
    if (!table.is_object()) throw Error(where + ": member \"config." + name + "\" must be an object");
  const nlohmann::json& origin = members.object("origin");
  try {
    result.origin = config::origins_from_json(origin);
  } catch (const Error& error) {
    throw Error(where + ": " + error.what());
  }
  for (const auto& [role, file] : members.object("data").items()) {
    const std::string place = where + ": data." + role;
    const Members file_members(file, place);
    result.data[role] = {file_members.text("path"), file_members.text("sha256")};
  }
  result.plugin_folders = members.get<std::vector<std::string>>("plugin_folders", "a list of strings");
  if (json.contains("ties")) {
    if (members.text("ties") != name_of(Ties::loss))
      throw Error(where + ": member \"ties\" must be \"" + name_of(Ties::loss) + "\" or missing, found " +
                  json["ties"].dump());
    result.ties = Ties::loss;
  }
  if (json.contains("types"))
    result.types = members.get<std::map<std::string, int>>("types", "an object of whole numbers");
  return result;
}

void Specification::save(const std::filesystem::path& run_folder) const {
  world::make_folder(run_folder);
  world::save_file(run_folder / specification_name, to_json().dump(2) + "\n");
}

Specification Specification::load(const std::filesystem::path& run_folder) {
  const std::filesystem::path path = run_folder / specification_name;
  std::string text;
  try {
    text = read_file(path, most_json_bytes);
  } catch (const UnreadableFile& error) {
    if (!error.missing()) throw;
    throw Error("cannot read " + path.string() + ": a run folder holds this file; is this one?");
  }
  nlohmann::json json;
  try {
    json = parse_json(text);
  } catch (const JsonError& error) {
    throw Error(
        path.string() + ":" + std::to_string(error.line()) +
        ": the file is damaged: invalid JSON from here on; run the experiment file again to rewrite it");
  }
  return from_json(json, path.string());
}

}  // namespace encore::record
