// SPDX-License-Identifier: BSD-3-Clause
// retrained_text(): writes the resolved settings of a run as the TOML of an experiment file, for retrain.cpp.
// held_out_share() and added_files() read what an earlier retraining has put into [data]. The text decides
// the settings, and so the identity, of the new run: equal wishes must give equal text. Read next:
// retrained_experiment.hpp.
#include "app/retrained_experiment.hpp"

#include <nlohmann/json.hpp>

#include "app/toml_text.hpp"

namespace encore::app {

namespace {

using nlohmann::json;

/// Writes the tables of a resolved experiment. Options that have their default are left out, except `type`
/// and the references to a run (names_run), which are always written.
class Tables {
 public:
  explicit Tables(const config::Origins& origins) : origins_(origins) {}

  /// Writes a table and the tables in it. `path` is its key in `origins`, too: names of layers and steps need
  /// no quotes in TOML, because config/resolve.cpp accepts only letters, digits, "_" and "-" in them.
  void write(const std::string& path, const json& table) {
    std::string lines;
    std::vector<std::string> inner;
    for (const auto& [key, value] : table.items()) {
      if (value.is_object() && !names_run(path, key))
        inner.push_back(key);
      else if (key == "type" || value.is_object() || is_set(path + "." + key))
        lines += toml_key(key) + " = " + toml_text(value) + "\n";
    }
    if (!lines.empty() || inner.empty()) text_ += "\n[" + path + "]\n" + lines;
    for (const std::string& key : inner) write(path + "." + key, table.at(key));
  }
  const std::string& text() const { return text_; }

 private:
  /// Returns whether the value of a key names a run, and is written on one line.
  static bool names_run(const std::string& path, const std::string& key) {
    return key == "from" || (key == "model" && path.starts_with("app.step."));
  }
  bool is_set(const std::string& key) const {
    const auto origin = origins_.find(key);
    return origin != origins_.end() && origin->second.source != config::Source::fallback;
  }

  const config::Origins& origins_;
  std::string text_;
};

/// Returns the value of model.from with which a new run starts from the same weights as `run` did. The run
/// that these weights belong to is named by its id, because the experiment file that trained it may have
/// changed.
json same_start(store::Store& store, const store::RunRow& run, const json& from) {
  if (!from.is_object() || from.contains("run")) return from;
  const std::optional<store::ParentRow> parent = store.read_parent(run);
  if (!parent || !parent->run)
    throw Error("the run that " + run.name +
                " started from is no longer in the database, so it cannot be trained from scratch; remove "
                "--from-scratch");
  return {{"run", parent->run->id}};
}

/// Returns [model] of the new run: from the old run's weights, or with `from_scratch` from where the old run
/// started.
json model_table(store::Store& store, const store::RunRow& run, const json& model, bool from_scratch) {
  if (!from_scratch) return {{"from", {{"run", run.id}}}, {"head", model.at("head")}};
  json table = model;
  if (model.contains("from")) table["from"] = same_start(store, run, model.at("from"));
  return table;
}

/// Puts an option into the tables and marks it as written by the user, so that it is not taken for a default.
void put_option(json& config, config::Origins& origins, const std::string& table, const std::string& option,
                json value) {
  config[table][option] = std::move(value);
  origins[table + "." + option] = {config::Source::file, {}};
}

}  // namespace

double held_out_share(const record::Specification& specification) {
  return specification.config.value(json::json_pointer("/data/held_out"), 0.0);
}

std::vector<std::string> added_files(const record::Specification& specification) {
  const json files = specification.config.value(json::json_pointer("/data/more"), json());
  if (files.is_string()) return {files.get<std::string>()};  // one file
  return files.is_array() ? files.get<std::vector<std::string>>() : std::vector<std::string>();
}

std::string retrained_text(store::Store& store, const store::RunRow& run,
                           const record::Specification& specification, const RetrainWishes& wishes) {
  json config = specification.config;
  config::Origins origins = specification.origin;
  std::vector<std::string> more = added_files(specification);
  more.insert(more.end(), wishes.with.begin(), wishes.with.end());
  config["data"].erase("root");  // the paths are absolute
  put_option(config, origins, "data", "more", more);
  if (wishes.held_out > 0) put_option(config, origins, "data", "held_out", wishes.held_out);
  if (record::is_application(specification)) {
    put_option(config, origins, "app", "retrains", run.id);
    for (const auto& [step, model] : wishes.models) config["app"]["step"][step]["model"] = {{"run", model}};
  } else {
    put_option(config, origins, "train", "retrains", run.id);
    const json model = model_table(store, run, config.at("model"), wishes.from_scratch);
    if (!wishes.from_scratch) {
      config.erase("tokenizer");  // the tokenizer comes with the weights, as the model does
      if (const auto started = store::last_started(store.read_attempts(run.number));
          started && started->max_length)
        put_option(config, origins, "data", "max_length", *started->max_length);
    }
    if (model.contains("from")) origins["model.from"] = {config::Source::file, {}};
    config["model"] = model;
  }

  std::string text = "# Written by exp retrain: " + run.name + " (" + run.id +
                     ") with more data.\nname = " + json(wishes.name).dump() +
                     "\nseed = " + std::to_string(specification.seed) + "\n";
  if (!wishes.plugin_path.empty()) text += "plugin_path = " + json(wishes.plugin_path).dump() + "\n";
  Tables tables(origins);
  for (const auto& [key, table] : config.items())
    if (table.is_object()) tables.write(key, table);
  return text + tables.text();
}

}  // namespace encore::app
