// SPDX-License-Identifier: BSD-3-Clause
// Makes an Experiment from the resolved JSON (make_experiment): reads every option into the typed tables of
// experiment.hpp. The worker calls it. A new option of Encore is declared in core_schema.cpp first, then read
// here.
#include "config/experiment.hpp"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "config/check_value.hpp"
#include "config/core_schema.hpp"
#include "config/resolve.hpp"
#include "config/validate.hpp"
#include "config/value.hpp"

namespace encore::config {

namespace {

using nlohmann::json;

void require_none(const Problems& problems) {
  if (!problems.empty()) throw ConfigError(problems.all().front().key, problems.all().front().message);
}

/// Returns the options of the plugin alone, also for tables in which Encore has options (core_schema.hpp).
PluginTable plugin_table(const Resolved& resolved, const std::string& key) {
  const ResolvedTable& table = resolved.tables.at(key);
  Options options;
  for (const auto& [name, value] : table.options.values()) {
    if (table.offer->options.find(name) == nullptr) continue;
    if (table.options.given(name))
      options.set(name, value);
    else
      options.set_default(name, value);
  }
  return {key, table.offer->name, table.offer->version, std::move(options)};
}

LayerTable layer_table(const Resolved& resolved, const std::string& name) {
  return {plugin_table(resolved, "model.layer." + name), name};
}

DataTable data_table(const Resolved& resolved) {
  const Options& data = resolved.tables.at("data").options;
  const auto paths = [&](const char* set) {
    return data.has(set) ? data.paths(set) : std::vector<std::string>();
  };
  DataTable table = {.reader = plugin_table(resolved, "data"),
                     .train = paths("train"),
                     .dev = paths("dev"),
                     .test = paths("test"),
                     .more = paths("more")};
  if (data.has("held_out")) table.held_out = data.number("held_out");
  if (data.has("split")) table.split = data.number_list("split");
  table.stratify = data.flag("stratify");
  if (const auto* share = std::get_if<std::string>(&data.values().at("max_length")))
    table.max_length_percent = percentage_in(*share).value();
  else
    table.max_length = data.integer("max_length");
  return table;
}

ModelTable model_table(const Resolved& resolved) {
  const Options& model = resolved.tables.at("model").options;
  ModelTable table;
  table.width = model.integer("width");
  table.layers = model.integer("layers");
  table.groups = model.integer("groups");
  table.dropout = model.number("dropout");
  table.positions = model.text("positions") == "learned" ? Positions::learned
                    : model.text("positions") == "none"  ? Positions::none
                                                         : Positions::sinusoidal;
  table.position_layout =
      model.text("position_layout") == "halves" ? PositionLayout::halves : PositionLayout::pairs;
  table.max_positions = model.integer("max_positions");
  table.segments = model.integer("segments");
  table.embedding_scale =
      model.text("embedding_scale") == "none" ? EmbeddingScale::none : EmbeddingScale::sqrt_width;
  table.embedding_width = model.integer("embedding_width");
  table.embedding_norm = model.flag("embedding_norm");
  table.norm_position = model.text("norm_position") == "pre" ? NormPosition::pre : NormPosition::post;
  if (model.has("final_norm")) table.final_norm = model.flag("final_norm");
  table.norm = layer_table(resolved, model.text("norm"));
  for (const std::string& name : model.text_list("block")) table.block.push_back(layer_table(resolved, name));
  table.causal = model.flag("causal");
  if (const auto decoder = resolved.tables.find("model.decoder"); decoder != resolved.tables.end()) {
    table.decoder.emplace().layers = decoder->second.options.integer("layers");
    for (const std::string& name : decoder->second.options.text_list("block"))
      table.decoder->block.push_back(layer_table(resolved, name));
  }
  table.head = plugin_table(resolved, "model.head");
  return table;
}

Precision precision(const std::string& text) {
  if (text == "float64") return Precision::float64;
  if (text == "float16") return Precision::float16;
  return text == "bfloat16" ? Precision::bfloat16 : Precision::float32;
}

Recompute recompute(const std::string& text) {
  if (text == "none") return Recompute::none;
  return text == "blocks" ? Recompute::blocks : Recompute::cheap;
}

TrainTable train_table(const Options& train) {
  TrainTable table;
  table.batch_size = train.integer("batch_size");
  if (train.has("batch_tokens")) table.batch_tokens = train.integer("batch_tokens");
  if (train.has("epochs")) table.epochs = train.integer("epochs");
  if (train.has("steps")) table.steps = train.integer("steps");
  table.precision = precision(train.text("precision"));
  if (train.has("loss_scale")) table.loss_scale = train.number("loss_scale");
  table.loss_scale_steps = train.integer("loss_scale_steps");
  table.recompute = recompute(train.text("recompute"));
  table.clip_norm = train.number("clip_norm");
  table.select = parse_selection(train.text("select"));
  table.patience = train.integer("patience");
  table.evaluate_every = train.integer("evaluate_every");
  table.checkpoint_every = train.integer("checkpoint_every");
  table.batching = train.text("batching") == "padded" ? Batching::padded : Batching::packed;
  table.gradient_shards = train.integer("gradient_shards");
  table.label_smoothing = train.number("label_smoothing");
  table.digest_steps = train.integer("digest_steps");
  table.show_attention = train.integer("show_attention");
  table.freeze = train.text_list("freeze");
  table.layer_decay = train.number("layer_decay");
  table.lora = train.text_list("lora");
  table.lora_rank = train.integer("lora_rank");
  table.lora_alpha = train.number("lora_alpha");
  if (train.has("retrains")) table.retrains = train.text("retrains");
  return table;
}

std::optional<DistilTable> distil_table(const Resolved& resolved) {
  const auto table = resolved.tables.find("distil");
  if (table == resolved.tables.end()) return std::nullopt;
  const Options& distil = table->second.options;
  return DistilTable{
      .scores = {.temperature = distil.number("temperature"), .hard_weight = distil.number("hard_weight")},
      .relations = {.states = distil.number("states"),
                    .attention = distil.number("attention"),
                    .heads = distil.integer("relation_heads")}};
}

Resolved resolved_config(const json& config, const Catalogue& catalogue, const Origins& origins) {
  Problems problems;
  const Value root = value_from_json(config, "", origins);
  if (!root.is_table())
    throw ConfigError("", "a resolved experiment must be an object, found " + config.dump());
  Resolved resolved = resolve(root, catalogue, problems);
  require_none(problems);
  return resolved;
}

}  // namespace

Experiment make_experiment(const json& config, const Catalogue& catalogue, const Origins& origins) {
  const Resolved resolved = resolved_config(config, catalogue, origins);
  return {plugin_table(resolved, "task"),
          data_table(resolved),
          plugin_table(resolved, "tokenizer"),
          model_table(resolved),
          plugin_table(resolved, "optimizer"),
          plugin_table(resolved, "schedule"),
          train_table(resolved.tables.at("train").options),
          distil_table(resolved),
          resolved.tables.contains(target_tokenizer_key)
              ? std::optional(plugin_table(resolved, target_tokenizer_key))
              : std::nullopt};
}

bool is_application(const json& config) {
  return config.is_object() && config.contains("app");
}

Application make_application(const json& config, const Catalogue& catalogue, const Origins& origins) {
  const Resolved resolved = resolved_config(config, catalogue, origins);
  const Options& app = resolved.tables.at("app").options;
  Application application{.steps = {}, .data = data_table(resolved), .fit = app.number("fit"), .select = {}};
  if (app.has("select")) application.select = app.text("select");
  for (const std::string& name : app.text_list("steps")) {
    const std::string key = "app.step." + name;
    application.steps.push_back(
        {plugin_table(resolved, key), name, resolved.tables.at(key).offer->asks_model});
  }
  return application;
}

Options options_from_config(const json& table, const Schema& schema, const std::string& key,
                            const Origins& origins) {
  Problems problems;
  const Value value = value_from_json(table, key, origins);
  if (!value.is_table()) throw ConfigError(key, "[" + key + "] must be a table, found " + describe(value));
  ValidTable valid = validate(value, schema, {key, "[" + key + "]"}, problems, {"type"});
  require_none(problems);
  return std::move(valid.options);
}

std::vector<TypeName> needed_types(const Experiment& experiment) {
  std::vector<TypeName> types{
      {Kind::task, experiment.task.type},           {Kind::reader, experiment.data.reader.type},
      {Kind::tokenizer, experiment.tokenizer.type}, {Kind::layer, experiment.model.norm.type},
      {Kind::head, experiment.model.head.type},     {Kind::optimizer, experiment.optimizer.type},
      {Kind::schedule, experiment.schedule.type}};
  const auto add_once = [&](const TypeName& type) {
    if (std::find(types.begin(), types.end(), type) == types.end()) types.push_back(type);
  };
  const auto add = [&](const std::vector<LayerTable>& block) {
    for (const LayerTable& layer : block) add_once({Kind::layer, layer.type});
  };
  add(experiment.model.block);
  if (experiment.model.decoder) add(experiment.model.decoder->block);
  if (experiment.target_tokenizer) add_once({Kind::tokenizer, experiment.target_tokenizer->type});
  return types;
}

std::vector<TypeName> needed_types(const Application& application) {
  std::vector<TypeName> types{{Kind::reader, application.data.reader.type}};
  for (const StepTable& step : application.steps) {
    const TypeName type{Kind::step, step.type};
    if (std::find(types.begin(), types.end(), type) == types.end()) types.push_back(type);
  }
  return types;
}

std::vector<TypeName> needed_types(const json& config, const Catalogue& catalogue, const Origins& origins) {
  return is_application(config) ? needed_types(make_application(config, catalogue, origins))
                                : needed_types(make_experiment(config, catalogue, origins));
}

}  // namespace encore::config
