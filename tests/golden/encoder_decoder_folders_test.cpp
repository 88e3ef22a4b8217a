// SPDX-License-Identifier: BSD-3-Clause
// Compares a BART, a MarianMT and two T5, loaded from their folders, with the numbers that `transformers`
// computes (golden/bert, which make_bert.py writes): the logits of every row of a target, within 1e-10 in
// double and 1e-5 in float32. The code under test is infer/pretrained_weights.hpp and
// pretrained/pretrained_config.hpp.
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <utility>

#include <nlohmann/json.hpp>

#include "golden/golden_folder.hpp"
#include "infer/pretrained_weights.hpp"
#include "pretrained/family.hpp"
#include "pretrained/hugging_face_folder.hpp"
#include "pretrained/pretrained_config.hpp"
#include "support/tiny_model.hpp"

namespace encore::testing {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using Ints = std::vector<std::int32_t>;

/// The type of a layer, and its options.
struct ImpliedTable {
  std::string type;
  Changes options;
};

OptionValue option_value(const config::Value& value) {
  if (const auto* flag = std::get_if<bool>(&value.data)) return *flag;
  if (const auto* integer = std::get_if<std::int64_t>(&value.data)) return *integer;
  if (const auto* number = std::get_if<double>(&value.data)) return *number;
  return value.text();
}

/// Returns what config.json implies for each [model.layer.NAME], and for [model.head].
std::map<std::string, ImpliedTable> implied_tables(const pretrained::PretrainedConfig& config) {
  std::map<std::string, ImpliedTable> tables = {{"head", {.type = "language_model", .options = {}}}};
  for (const pretrained::ImpliedOption& option : pretrained::implied_options(config)) {
    if (option.path.front() != "model" || option.path.size() < 3 || option.path[1] == "decoder") continue;
    ImpliedTable& table = tables[option.path[option.path.size() - 2]];
    if (option.path.back() == "type")
      table.type = option.value.text();
    else
      table.options.insert_or_assign(option.path.back(), option_value(option.value));
  }
  tables["head"].options.insert_or_assign("transform", false);
  return tables;
}

/// Returns the experiment that config.json describes, without dropout.
config::Experiment experiment_of(const plugin_host::Registry& registry, pretrained::PretrainedConfig config,
                                 config::Precision precision) {
  config.dropout = config.attention_dropout = 0.0;
  const pretrained::FamilyShape& shape = pretrained::family_of(config).shape;
  config::Experiment experiment = tiny_experiment(registry);
  experiment.data.max_length = config.max_positions;
  experiment.train.precision = precision;
  config::ModelTable& model = experiment.model;
  model.width = config.width;
  model.layers = config.layers;
  model.positions = shape.positions;
  model.position_layout = shape.position_layout;
  model.max_positions = shape.positions == config::Positions::learned ? config.max_positions : 0;
  model.embedding_scale = config.scaled ? config::EmbeddingScale::sqrt_width : config::EmbeddingScale::none;
  model.embedding_norm = shape.embedding_norm;
  model.norm_position = shape.pre_norm ? config::NormPosition::pre : config::NormPosition::post;
  const std::map<std::string, ImpliedTable> tables = implied_tables(config);
  const auto layer = [&](const char* name) {
    const ImpliedTable& table = tables.at(name);
    return layer_table(registry, name, table.type, table.options);
  };
  model.norm = layer(pretrained::pretrained_norm);
  model.block = {layer(pretrained::pretrained_attention), layer(pretrained::pretrained_feed_forward)};
  model.decoder = config::StackTable{
      .layers = config.decoder_layers,
      .block = {layer(pretrained::pretrained_attention), layer(pretrained::pretrained_cross),
                layer(pretrained::pretrained_feed_forward)}};
  const ImpliedTable& head = tables.at("head");
  fill_table(model.head, registry, Kind::head, "model.head", head.type, head.options);
  return experiment;
}

void append_rows(data::PackedRows& rows, const Ints& ids) {
  if (rows.offsets.empty()) rows.offsets = {0};
  for (std::size_t row = 0; row < ids.size(); ++row) {
    rows.ids.push_back(ids[row]);
    rows.positions.push_back(static_cast<std::int32_t>(row));
  }
  rows.offsets.push_back(static_cast<std::int32_t>(rows.ids.size()));
}

/// Returns all examples as one batch without targets.
data::PackedBatch batch_of(const json& texts) {
  data::PackedBatch batch;
  batch.borders = {0};
  for (const json& text : texts) {
    append_rows(batch, text.at("ids").get<Ints>());
    append_rows(batch.target, text.at("target").get<Ints>());
    batch.sequences.push_back(std::ssize(batch.sequences));
    batch.borders.push_back(static_cast<std::int32_t>(batch.sequences.size()));
  }
  batch.columns.resize(1);
  batch.columns[0].integers.assign(batch.target.ids.size(), no_target);
  batch.known = {true};
  batch.weights = {1.0};
  return batch;
}

/// Compares the model of the folder `name`, which must have this number of tensors.
void expect_logits_of_transformers(const std::string& name, int tensors) {
  const fs::path folder = golden_folder / name;
  const json texts = load_json(golden_folder / "expected.json").at(name);
  pretrained::PretrainedConfig config =
      pretrained::pretrained_config_from_json(load_json(folder / pretrained::config_file));
  config.tied = config.scaled_states || *pretrained::family_of(config).output_matrix == '\0';
  const plugin_host::Registry registry = load_builtin_plugins();
  const data::PackedBatch packed = batch_of(texts);
  const model::ModelSize size = {.vocabulary = config.tokens,
                                 .columns = {{.name = targets_column, .space = Space::target}},
                                 .outputs = {{.name = "candidates", .space = Space::target}}};
  const Device device;
  for (const config::Precision precision : {config::Precision::float64, config::Precision::float32}) {
    TinyModel tiny(experiment_of(registry, config, precision), size, registry, device, packed);
    const infer::PretrainedWeights weights = infer::load_pretrained(tiny.model, folder);
    EXPECT_EQ(weights.note, "model.from: " + std::to_string(tensors) + " tensors taken");
    tiny.model.evaluate(tiny.batch, {});
    const std::vector<double> logits = to_host(device, tiny.model.evaluation_tensor("head.logits"));
    std::size_t at = 0;
    double largest = 0.0;
    for (const json& text : texts)
      for (const json& number : text.at("logits")) {
        ASSERT_LT(at, logits.size());
        ASSERT_TRUE(std::isfinite(logits[at])) << name << ": logit " << at;  // std::max() drops a NaN
        largest = std::max(largest, std::abs(logits[at++] - number.get<double>()));
      }
    EXPECT_EQ(at, logits.size());
    EXPECT_LE(largest, tolerance(precision)) << name;
  }
}

TEST(EncoderDecoderLogits, AreThoseOfTransformers) {
  expect_logits_of_transformers("bart", 66);
  expect_logits_of_transformers("marian", 70);
  expect_logits_of_transformers("t5", 34);
  expect_logits_of_transformers("t5_gated", 43);
}

}  // namespace
}  // namespace encore::testing
