// A BART and a MarianMT of transformers against their own numbers (make_bert.py lies beside): the logits of
// every row of a target, within 1e-10 in double and 1e-5 in float32.
#include <gtest/gtest.h>

#include <cmath>

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

/// The model that config.json describes.
Experiment experiment_of(const Registry& registry, const PretrainedConfig& config, Precision precision) {
  const FamilyShape& shape = family_of(config).shape;
  Experiment experiment = tiny_experiment(registry);
  experiment.data.max_length = config.max_positions;
  experiment.train.precision = precision;
  ModelTable& model = experiment.model;
  model.width = config.width;
  model.layers = config.layers;
  model.positions = shape.positions;
  model.position_layout = shape.position_layout;
  model.max_positions = shape.positions == Positions::learned ? config.max_positions : 0;
  model.embedding_scale = config.scaled ? EmbeddingScale::sqrt_width : EmbeddingScale::none;
  model.embedding_norm = shape.embedding_norm;
  model.norm_position = NormPosition::post;
  model.norm.options.set("epsilon", config.epsilon);
  model.block[0].options.set("heads", config.heads);
  model.block[1].options.set("hidden", config.hidden);
  model.block[1].options.set("activation", config.activation);
  std::vector<LayerTable> block = model.block;
  block.insert(block.begin() + 1,
               layer_table(registry, pretrained_cross, "cross_attention", {{"heads", config.heads}}));
  model.decoder = StackTable{.layers = config.decoder_layers, .block = std::move(block)};
  fill_table(model.head, registry, Kind::head, "model.head", "language_model", {{"transform", false}});
  return experiment;
}

void append_rows(PackedRows& rows, const Ints& ids) {
  if (rows.offsets.empty()) rows.offsets = {0};
  for (std::size_t row = 0; row < ids.size(); ++row) {
    rows.ids.push_back(ids[row]);
    rows.positions.push_back(static_cast<std::int32_t>(row));
  }
  rows.offsets.push_back(static_cast<std::int32_t>(rows.ids.size()));
}

/// All texts as one batch, in which nothing is to be learned.
PackedBatch batch_of(const json& texts) {
  PackedBatch batch;
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

/// Of a folder with so many tensors.
void expect_logits_of_transformers(const std::string& name, int tensors) {
  const fs::path folder = golden_folder / name;
  const json texts = load_json(golden_folder / "expected.json").at(name);
  const PretrainedConfig config = pretrained_config_from_json(load_json(folder / config_file));
  const Registry registry = load_builtin_plugins();
  const PackedBatch packed = batch_of(texts);
  const ModelSize size = {.vocabulary = config.pieces,
                          .columns = {{.name = targets_column, .space = Space::target}},
                          .outputs = {{.name = "candidates", .space = Space::target}}};
  const Device device;
  for (const Precision precision : {Precision::float64, Precision::float32}) {
    TinyModel tiny(experiment_of(registry, config, precision), size, registry, device, packed);
    const PretrainedWeights weights = load_pretrained(tiny.model, folder);
    EXPECT_EQ(weights.note, "model.from: " + std::to_string(tensors) + " tensors taken");
    tiny.model.evaluate(tiny.batch, {});
    const std::vector<double> logits = to_host(device, tiny.model.evaluation_tensor("head.logits"));
    std::size_t at = 0;
    double largest = 0.0;
    for (const json& text : texts)
      for (const json& number : text.at("logits")) {
        ASSERT_LT(at, logits.size());
        largest = std::max(largest, std::abs(logits[at++] - number.get<double>()));
      }
    EXPECT_EQ(at, logits.size());
    EXPECT_LE(largest, tolerance(precision)) << name;
  }
}

TEST(EncoderDecoderLogits, AreThoseOfTransformers) {
  expect_logits_of_transformers("bart", 66);
  expect_logits_of_transformers("marian", 70);
}

}  // namespace
}  // namespace encore::testing
