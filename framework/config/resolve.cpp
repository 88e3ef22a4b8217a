// SPDX-License-Identifier: BSD-3-Clause
// Resolves the tables of one run (resolve): finds each table, validates it, and puts it into the result with
// its defaults. plan/ calls it for every run; across_tables.cpp then checks what several tables decide
// together. Identities of runs depend on the result, so an existing file must always resolve to equal values.
// Read next: validate.hpp.
#include "config/resolve.hpp"

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>

#include "base/limits.hpp"
#include "base/nearest.hpp"
#include "config/core_schema.hpp"
#include "config/origin.hpp"
#include "config/schema_json.hpp"
#include "config/validate.hpp"

namespace encore::config {

namespace {

const std::string layer_prefix = "model.layer.", step_prefix = "app.step.";

/// Returns whether a name of a layer or a step can be part of other names.
bool is_part_name(const std::string& name) {
  const auto fits = [](unsigned char letter) {
    return std::isalnum(letter) != 0 || letter == '_' || letter == '-';
  };
  return !name.empty() && std::ranges::all_of(name, fits);
}

/// Returns the parts of a dotted key.
std::vector<std::string> split(const std::string& key) {
  std::vector<std::string> path(1);
  for (const char letter : key) {
    if (letter == '.')
      path.emplace_back();
    else
      path.back() += letter;
  }
  return path;
}

class Resolver {
 public:
  Resolver(const Value& root, const Catalogue& catalogue, Problems& problems)
      : root_(root), catalogue_(catalogue), problems_(problems), places_(root, catalogue) {}

  Resolved run() {
    tables();
    check_across_tables(root_, catalogue_, resolved_, problems_);
    return std::move(resolved_);
  }

  /// Resolves each table by itself.
  void tables() {
    if (is_application()) return application();
    for (const PluginTableRule& rule : plugin_table_rules()) part_table(rule);
    target_tokenizer();
    const Value* from = root_.at({"model", "from"});
    const bool has_parent = from != nullptr && from->is_table();
    std::vector<std::string> inner = {"layer", "head", "decoder"};
    if (has_parent) inner.emplace_back("from");
    if (const Value* model = core_table("model", model_schema(), inner)) {
      if (has_parent) core_table("model.from", resolved_parent_schema());
      if (model->find("decoder") != nullptr) core_table("model.decoder", decoder_schema());
      layers(*model);
    }
    core_table("train", train_schema());
    distil();
  }

 private:
  bool is_application() const { return root_.find("app") != nullptr; }

  /// Resolves [app], its steps, and [data]. An application trains nothing, so it has no other table.
  void application() {
    for (const PluginTableRule& rule : plugin_table_rules())
      if (rule.kind == Kind::reader) part_table(rule);
    for (const std::string& name : top_tables())
      if (const Value::Member* table = root_.find(name); table != nullptr && !is_of_application(name))
        problems_.add(table->key_origin.place, name,
                      "an experiment with [app] has no [" + name +
                          "]: its steps ask models of other runs, such as model = { experiment = "
                          "\"FILE\" }; remove one of them");
    const Value* app = core_table("app", app_schema(), {"step"});
    if (app == nullptr) return;
    const Value::Member* tables = app->find("step");
    if (tables != nullptr && !tables->value.is_table())
      return problems_.add(
          tables->value.origin.place, "app.step",
          "\"step\" of [app] must hold tables [app.step.NAME], found " + describe(tables->value));
    const Value none{Value::Table{}, app->origin};
    const Value& steps = tables == nullptr ? none : tables->value;
    for (const Value::Member& member : steps.table()) step(member);
    step_order(*app, steps);
  }

  static bool is_of_application(const std::string& table) {
    return table == "app" || table == "data" || table == "sweep" || table == "search";
  }

  /// Resolves the table of a step. plan/parent_filler.cpp has already found the run that its model names.
  void step(const Value::Member& member) {
    const std::string key = step_prefix + member.key;
    if (!is_part_name(member.key))
      return problems_.add(member.key_origin.place, key,
                           "\"" + member.key +
                               "\" cannot be the name of a step: it becomes part of the names of fields and "
                               "measures, so only letters, digits, \"_\" and \"-\" may stand in it");
    if (!member.value.is_table())
      return problems_.add(member.value.origin.place, key,
                           "[" + key + "] must be a table, found " + describe(member.value));
    std::optional<Checked> checked = plugin_table(key, Kind::step, member.value);
    if (!checked) return;
    const bool asks_model = checked->offer->asks_model;
    const std::string title = title_of(Kind::step, checked->offer->name);
    keep(key, std::move(*checked));
    const Value::Member* model = member.value.find("model");
    if (model == nullptr) {
      if (asks_model)
        problems_.add(member.value.origin.place, key + ".model",
                      "[" + key +
                          "] names no model; write model = { run = \"NAME\" } or model = { "
                          "experiment = \"FILE\" }");
    } else if (!asks_model) {
      problems_.add(model->key_origin.place, key + ".model",
                    title + " asks no model; remove \"model\" from [" + key + "]");
    } else if (!model->value.is_table()) {
      problems_.add(model->value.origin.place, key + ".model",
                    "\"model\" of [" + key +
                        "] must be a table, { run = \"NAME\" } or { experiment = "
                        "\"FILE\" }, found " +
                        describe(model->value) + "; exp import makes a run of a folder from elsewhere");
    } else {
      core_table(key + ".model", resolved_step_model_schema());
    }
  }

  /// Checks that app.steps and the tables [app.step.NAME] name the same steps, each once.
  void step_order(const Value& app, const Value& steps) {
    const Value::Member* order = app.find("steps");
    if (order == nullptr || !order->value.is_array()) return;
    if (order->value.array().empty())
      problems_.add(order->value.origin.place, "app.steps",
                    "\"steps\" of [app] is empty; it names the steps");
    std::vector<std::string> names;
    for (const Value::Member& member : steps.table()) names.push_back(member.key);
    std::set<std::string> used;
    for (const Value& name : order->value.array()) {
      if (!name.is_text()) continue;
      if (steps.find(name.text()) == nullptr)
        problems_.add(name.origin.place, "app.steps",
                      "\"steps\" of [app] names \"" + name.text() + "\", but there is no table [" +
                          step_prefix + name.text() + "]" + did_you_mean(name.text(), names));
      if (!used.insert(name.text()).second)
        problems_.add(
            name.origin.place, "app.steps",
            "\"steps\" of [app] names \"" + name.text() + "\" twice; each step needs a table of its own");
    }
    for (const Value::Member& member : steps.table())
      if (!used.contains(member.key))
        problems_.add(member.key_origin.place, step_prefix + member.key,
                      "\"steps\" of [app] does not name the step of [" + step_prefix + member.key +
                          "]; add it there, or remove the table");
  }

  /// Resolves [distil] if there is one. plan/parent_filler.cpp has already found the run that its teacher
  /// names.
  void distil() {
    if (root_.find("distil") == nullptr) return;
    const Value* table = core_table("distil", distil_schema(), {"teacher"});
    if (table == nullptr) return;
    const Value::Member* teacher = table->find("teacher");
    if (teacher != nullptr && teacher->value.is_table())
      core_table("distil.teacher", resolved_teacher_schema());
    else
      problems_.add(teacher == nullptr ? table->origin.place : teacher->value.origin.place, "distil.teacher",
                    teacher == nullptr
                        ? "[distil] names no teacher; write teacher = { run = \"NAME\" } or teacher = { "
                          "experiment = \"FILE\" }"
                        : "\"teacher\" of [distil] must be a table, { run = \"NAME\" } or { experiment = "
                          "\"FILE\" }, found " +
                              describe(teacher->value) +
                              "; exp import makes a run of a folder from elsewhere");
  }

  struct Checked {
    ValidTable values;
    const Schema* schema = nullptr;
    const ManifestOffer* offer = nullptr;
    Origin type_origin;
  };

  std::string known_types(Kind kind) const {
    const std::vector<std::string> names = catalogue_.names(kind);
    return names.empty() ? " as its type" : " as its type: " + quoted_list(names);
  }

  /// Returns the table, or null. `need` says what the table must contain; it is called only if the table is
  /// missing.
  const Value* find_table(const std::string& key, const std::function<std::string()>& need) {
    const Value* table = root_.at(split(key));
    if (table == nullptr) {
      problems_.add(root_.origin.place, key, "table [" + key + "] is missing; " + need());
      return nullptr;
    }
    if (table->is_table()) return table;
    problems_.add(table->origin.place, key, "[" + key + "] must be a table, found " + describe(*table));
    return nullptr;
  }

  void keep(const std::string& key, Checked checked) {
    using Object = nlohmann::json::object_t;
    nlohmann::json* place = &resolved_.config;
    for (const std::string& part : split(key)) place = &(*place)[part];
    if (place->is_null()) *place = nlohmann::json::object();
    nlohmann::json values = options_to_json(checked.values.options);
    place->get_ref<Object&>().merge(values.get_ref<Object&>());
    if (checked.offer != nullptr) {
      (*place)["type"] = checked.offer->name;
      checked.values.origin[key + ".type"] = checked.type_origin;
    }
    resolved_.origin.merge(checked.values.origin);
    resolved_.tables[key] = {std::move(checked.values.options), checked.schema, checked.offer};
  }

  /// Returns the table, or null if there is none.
  const Value* core_table(const std::string& key, const Schema& schema,
                          const std::vector<std::string>& inner = {}) {
    const Value* table = find_table(key, [&] {
      std::vector<std::string> needed;
      for (const Option& option : schema.options())
        if (option.required) needed.push_back(option.name);
      // No single option of [train] is required: across_tables.cpp checks that `epochs` or `steps` is there.
      return "it must have " + (needed.empty() ? "\"epochs\" or \"steps\"" : quoted_list(needed));
    });
    if (table == nullptr) return nullptr;
    keep(key, {validate(*table, schema, {key, "[" + key + "]"}, problems_, inner, {}, places_),
               &schema,
               nullptr,
               {}});
    return table;
  }

  void part_table(const PluginTableRule& rule) {
    const Value* table = find_table(rule.key, [&] {
      std::vector<std::string> needed;
      for (const Option& option : host_options(rule.kind).options())
        if (option.required) needed.push_back(option.name);
      return "it must name " + with_article(rule.kind) + known_types(rule.kind) +
             (needed.empty() ? "" : ", and have " + quoted_list(needed));
    });
    if (table == nullptr) return;
    std::optional<std::string> root;
    if (rule.kind == Kind::reader && !data_root(root)) return;
    std::optional<Checked> checked = plugin_table(rule.key, rule.kind, *table, root);
    if (!checked) return;
    if (root) checked->values.options.set("root", *root);
    keep(rule.key, std::move(*checked));
  }

  /// Resolves the table of the tokenizer of targets if there is one.
  void target_tokenizer() {
    const Value* table = root_.at({"tokenizer", "target"});
    if (table == nullptr) return;
    if (!table->is_table())
      return problems_.add(
          table->origin.place, target_tokenizer_key,
          std::string("[") + target_tokenizer_key + "] must be a table, found " + describe(*table));
    if (std::optional<Checked> checked = plugin_table(target_tokenizer_key, Kind::tokenizer, *table))
      keep(target_tokenizer_key, std::move(*checked));
  }

  /// Returns false for a run that trains nothing, which needs no files.
  bool needs_files() const {
    if (is_application()) return false;  // across_tables.cpp checks which sets it needs
    const Value* epochs = root_.at({"train", "epochs"});
    const auto* count = epochs == nullptr ? nullptr : std::get_if<std::int64_t>(&epochs->data);
    return count == nullptr || *count != 0;
  }
  static Schema without_files(const Schema& schema) {
    Schema without;
    for (Option option : schema.options()) {
      const bool file = option.type == OptionType::path || option.type == OptionType::path_list;
      option.required = option.required && !file;
      without.add(std::move(option));
    }
    return without;
  }

  /// Sets `root` to data.root, from which the paths of [data] start. A relative data.root starts from the
  /// folder of the file that names it. Returns false if its path is wrong.
  bool data_root(std::optional<std::string>& root) {
    const Value* named = root_.at({"data", "root"});
    if (named == nullptr || !named->is_text()) return true;
    try {
      root = resolve_path(named->text(), named->origin, {});
      return true;
    } catch (const Error& error) {
      problems_.add(named->origin.place, "data.root",
                    std::string("option \"root\" of [data] ") + error.what());
      return false;
    }
  }

  /// Relative paths start from `root` if it is set.
  std::optional<Checked> plugin_table(const std::string& key, Kind kind, const Value& table,
                                      const std::optional<std::string>& root = {}) {
    const Value::Member* type = table.find("type");
    if (type == nullptr) {
      problems_.add(table.origin.place, key + ".type",
                    "table [" + key + "] must name " + with_article(kind) + known_types(kind) +
                        (kind == Kind::layer ? mistaken_for(key) : ""));
      return std::nullopt;
    }
    if (!type->value.is_text()) {
      problems_.add(
          type->value.origin.place, key + ".type",
          "option \"type\" of [" + key + "] must be text in quotes, found " + describe(type->value));
      return std::nullopt;
    }
    const ManifestOffer* offer = catalogue_.find(kind, type->value.text());
    if (offer == nullptr) {
      problems_.add(type->value.origin.place, key + ".type", catalogue_.unknown(kind, type->value.text()));
      return std::nullopt;
    }
    const Schema& schema = catalogue_.table_options(*offer);
    // [data] also has options of Encore's own.
    const bool shared = !host_options(kind).options().empty();
    const TableName name{key, shared ? "[" + key + "]" : title_of(offer->kind, offer->name)};
    const bool whole = kind != Kind::reader || needs_files();
    std::vector<std::string> inner = {"type"};
    if (kind == Kind::step) inner.emplace_back("model");   // step() checks it
    if (key == "tokenizer") inner.emplace_back("target");  // target_tokenizer() checks it
    return Checked{
        validate(table, whole ? schema : without_files(schema), name, problems_, inner, root, places_),
        &schema, offer, type->value.origin};
  }

  void layers(const Value& model) {
    const Value::Member* tables = model.find("layer");
    if (tables != nullptr && !tables->value.is_table()) {
      problems_.add(
          tables->value.origin.place, "model.layer",
          "\"layer\" of [model] must hold tables [model.layer.NAME], found " + describe(tables->value));
      return;
    }
    const Value none{Value::Table{}, model.origin};
    const Value& layers = tables == nullptr ? none : tables->value;

    std::map<std::string, Checked> checked;
    for (const Value::Member& member : layers.table())
      if (problems_.all().size() < most_problems) check_layer(member, checked);
    std::set<std::string> used;
    block("model", model, layers, used);
    if (const Value::Member* decoder = model.find("decoder"); decoder != nullptr && decoder->value.is_table())
      block("model.decoder", decoder->value, layers, used);
    norm(model, layers, checked, used);
    for (const Value::Member& member : layers.table()) {
      if (!used.contains(member.key)) resolved_.unused_layers[member.key] = member.key_origin.place;
      const auto found = checked.find(member.key);
      if (used.contains(member.key) && found != checked.end())
        keep(layer_prefix + member.key, std::move(found->second));
    }
  }

  /// Returns a suggestion for a layer table without a type: `; or did you mean
  /// [model.layer.attention]?`
  std::string mistaken_for(const std::string& key) const {
    std::vector<std::string> others;
    for (const Value::Member& other : root_.at({"model", "layer"})->table())
      if (other.value.find("type") != nullptr) others.push_back(other.key);
    const auto near = nearest(key.substr(layer_prefix.size()), others);
    return near ? "; or did you mean [" + layer_prefix + *near + "]?" : "";
  }

  void check_layer(const Value::Member& member, std::map<std::string, Checked>& checked) {
    const std::string key = layer_prefix + member.key;
    if (!is_part_name(member.key)) {
      problems_.add(member.key_origin.place, key,
                    "\"" + member.key +
                        "\" cannot be the name of a layer: it becomes part of the names of its "
                        "parameters, so only letters, digits, \"_\" and \"-\" may stand in it");
    } else if (!member.value.is_table()) {
      problems_.add(member.value.origin.place, key,
                    "[" + key + "] must be a table, found " + describe(member.value));
    } else if (auto table = plugin_table(key, Kind::layer, member.value)) {
      checked.emplace(member.key, std::move(*table));
    }
  }

  /// Resolves the block of `table`, which is [model] or [model.decoder]. Both may name the same layers.
  void block(const std::string& key, const Value& table, const Value& layers, std::set<std::string>& used) {
    const Value::Member* block = table.find("block");
    if (block == nullptr || !block->value.is_array()) return;
    const std::string subject = "\"block\" of [" + key + "]";
    if (block->value.array().empty())
      problems_.add(block->value.origin.place, key + ".block",
                    subject + " is empty; it names the sub-layers");
    std::set<std::string> own;
    std::vector<std::string> names;
    for (const Value::Member& member : layers.table()) names.push_back(member.key);
    for (const Value& name : block->value.array()) {
      if (!name.is_text()) continue;
      if (layers.find(name.text()) == nullptr)
        problems_.add(name.origin.place, key + ".block",
                      subject + " names \"" + name.text() + "\", but there is no table [model.layer." +
                          name.text() + "]" + did_you_mean(name.text(), names));
      if (!own.insert(name.text()).second)
        problems_.add(name.origin.place, key + ".block",
                      subject + " names \"" + name.text() +
                          "\" twice; each sub-layer needs a table of its own, "
                          "because its name is part of the names of its parameters");
      used.insert(name.text());
    }
  }

  // Resolves the norm. Without a table of its own it is a layer type with its defaults, and gets a table in
  // the resolved experiment.
  void norm(const Value& model, const Value& layers, std::map<std::string, Checked>& checked,
            std::set<std::string>& used) {
    const auto table = resolved_.tables.find("model");
    if (table == resolved_.tables.end() || !table->second.options.has("norm")) return;
    const std::string name = table->second.options.text("norm");
    used.insert(name);
    if (layers.find(name) != nullptr) return;
    const Value::Member* named = model.find("norm");
    const Origin origin =
        named == nullptr ? Origin{Source::fallback, model.origin.place} : named->value.origin;
    const std::string key = layer_prefix + name;
    const Value implied{Value::Table{{"type", origin, Value{name, origin}}}, origin};
    if (catalogue_.find(Kind::layer, name) == nullptr)
      problems_.add(origin.place, "model.norm",
                    "option \"norm\" of [model]: " + catalogue_.unknown(Kind::layer, name));
    else if (auto found = plugin_table(key, Kind::layer, implied))
      keep(key, std::move(*found));
    checked.erase(name);
  }

  const Value& root_;
  const Catalogue& catalogue_;
  Problems& problems_;
  OptionPlaces places_;
  Resolved resolved_;
};

}  // namespace

Resolved resolve(const Value& root, const Catalogue& catalogue, Problems& problems) {
  return Resolver(root, catalogue, problems).run();
}

void check_given_options(const Value& root, const Catalogue& catalogue, Problems& problems) {
  Problems found;
  Resolver(root, catalogue, found).tables();
  for (const Problem& problem : found.all()) {
    const bool is_of_parent =
        names_run(problem.key) || names_run(problem.key.substr(0, problem.key.rfind('.')));
    const Value* given = problem.key.empty() || is_of_parent ? nullptr : root.at(split(problem.key));
    if (given != nullptr && !given->is_table()) problems.add({problem});
  }
}

}  // namespace encore::config
