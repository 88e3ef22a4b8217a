// SPDX-License-Identifier: BSD-3-Clause
// Compares training steps of tiny models (Model, model/model.hpp, with an optimizer) with the numbers of
// PyTorch in golden.json, decoders.json and encoder_decoder.json, which make_golden.py, make_decoders.py and
// make_encoder_decoder.py write. Models: post-norm with ReLU, sinusoidal positions and Adam; pre-norm with
// GELU, learned positions, the option residual_norm of the head, label smoothing, AdamW and clipping; both
// also as decoders, alone and after an encoder. Every number agrees within 1e-9 in double, and within 1e-5 of
// each tensor's norm in float32.
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>

#include <nlohmann/json.hpp>

#include <encore/kernels.hpp>

#include "support/places.hpp"
#include "support/tiny_model.hpp"

namespace encore::testing {
namespace {

using nlohmann::json;

bool is_decoder(const std::string& name) {
  return name.starts_with("decoder");
}
bool has_two_stacks(const std::string& name) {
  return name.starts_with("encoder_decoder");
}
bool is_pre_norm(const std::string& name) {
  return name.ends_with("pre_norm");
}

json load_golden(const std::string& name) {
  const std::string file_name = is_decoder(name)       ? "decoders.json"
                                : has_two_stacks(name) ? "encoder_decoder.json"
                                                       : "golden.json";
  std::ifstream file(std::string(ENCORE_SOURCE_DIR) + "/tests/golden/" + file_name);
  for (const json& model : json::parse(file))
    if (model.at("name") == name) return model;
  throw Error(file_name + " has no model \"" + name + "\"");
}

/// Returns the batch of make_encoder_decoder.py for this seed: the sources, then for each row of a target its
/// id and the next one.
data::PackedBatch two_texts(std::uint64_t seed) {
  Numbers numbers(seed);
  data::PackedBatch batch;
  batch.columns.resize(1);
  batch.known = {true};
  batch.borders = {0};
  const auto add = [&](data::PackedRows& rows, const std::vector<std::int32_t>& lengths, bool learned) {
    rows.offsets = {0};
    for (const std::int32_t length : lengths) {
      for (std::int32_t t = 0; t < length; ++t) {
        rows.ids.push_back(numbers.below(11));
        rows.positions.push_back(t);
        if (learned) batch.columns[0].integers.push_back(numbers.below(11));
      }
      rows.offsets.push_back(static_cast<std::int32_t>(rows.ids.size()));
    }
  };
  add(batch, {5, 1, 9, 3}, false);
  add(batch.target, {4, 7, 1, 2}, true);
  for (std::int32_t s = 0; s < 4; ++s) {
    batch.sequences.push_back(s);
    batch.borders.push_back(s + 1);
  }
  batch.weights = {weight_of(batch.columns[0].integers)};
  return batch;
}

model::ModelSize golden_size(const std::string& name) {
  if (has_two_stacks(name))
    return {.vocabulary = 11,
            .columns = {{.name = targets_column, .space = Space::target}},
            .outputs = {{.name = "candidates", .space = Space::target}}};
  if (!is_decoder(name)) return tiny_size();
  return {.vocabulary = 11, .columns = {{.name = targets_column}}, .outputs = {{.name = "candidates"}}};
}
data::PackedBatch golden_batch(const std::string& name, std::uint64_t seed) {
  if (has_two_stacks(name)) return two_texts(seed);
  return is_decoder(name) ? make_batch({5, 1, 9, 3}, 11, 11, seed) : tiny_batch(seed);
}

std::vector<double> numbers(const json& list) {
  return list.get<std::vector<double>>();
}

/// Sets the parameters to the values of make_golden.py: each comes from a generator that is seeded by its
/// place in the order of paths.
void set_parameters(TinyModel& tiny) {
  std::uint64_t number = 0;
  for (const memory::ParameterSlice& slice : tiny.model.parameters().slices()) {
    Numbers numbers(++number);
    const bool gain = slice.path.ends_with("gain");
    std::vector<double> values(static_cast<std::size_t>(slice.size));
    for (double& value : values) value = gain ? 1.0 + 0.25 * numbers.symmetric() : 0.5 * numbers.symmetric();
    tiny.set_values(slice, values);
  }
}

config::Experiment golden_experiment(const plugin_host::Registry& registry, const std::string& name,
                                     config::Precision precision) {
  config::Experiment experiment = tiny_experiment(registry);
  experiment.train.precision = precision;
  if (is_decoder(name) || has_two_stacks(name)) {
    experiment.model.causal = is_decoder(name);
    fill_table(experiment.model.head, registry, Kind::head, "model.head", "language_model",
               {{"transform", false}});
  } else {
    experiment.model.head.options.set("residual_norm", is_pre_norm(name));
  }
  if (is_pre_norm(name)) {
    experiment.model.norm_position = config::NormPosition::pre;
    experiment.model.positions = config::Positions::learned;
    experiment.model.block[1].options.set("activation", std::string("gelu"));
    experiment.train.label_smoothing = 0.1;
  }
  if (has_two_stacks(name)) {
    std::vector<config::LayerTable> block = experiment.model.block;
    block.insert(block.begin() + 1,
                 layer_table(registry, "cross", "cross_attention", {{"heads", std::int64_t{2}}}));
    experiment.model.decoder = config::StackTable{.layers = 2, .block = std::move(block)};
  }
  return experiment;
}

/// Finds the largest difference: absolute in double, relative to the tensor's norm in float32.
class Compare {
 public:
  explicit Compare(config::Precision precision) : precision_(precision) {}

  void operator()(const std::string& what, const std::vector<double>& ours,
                  const std::vector<double>& theirs) const {
    ASSERT_EQ(ours.size(), theirs.size()) << what;
    double squares = 0.0;
    for (const double value : theirs) squares += value * value;
    // A gradient whose true value is zero (of a key's bias) has no norm to compare with; it is compared
    // absolutely.
    const double size = precision_ == config::Precision::float64 ? 1.0 : std::max(std::sqrt(squares), 0.1);
    const double tolerance = precision_ == config::Precision::float64 ? 1e-9 : 1e-5;
    for (std::size_t i = 0; i < ours.size(); ++i)
      ASSERT_LE(std::abs(ours[i] - theirs[i]), tolerance * size)
          << what << "[" << i << "]: " << ours[i] << ", PyTorch has " << theirs[i];
  }

 private:
  config::Precision precision_;
};

/// The model and optimizer of one golden run.
struct GoldenRun {
  GoldenRun(const plugin_host::Registry& registry, const std::string& name, config::Precision precision)
      : model_name(name),
        tiny(golden_experiment(registry, name, precision), golden_size(name), registry, device,
             golden_batch(name, 1)),
        clip(is_pre_norm(name) ? 0.5 : 0.0),
        scalars("golden", 2 * sizeof(double)) {
    const std::string type = is_pre_norm(name) ? "adamw" : "adam";
    Options options = defaults(registry.offer(Kind::optimizer, type).options);
    options.set("weight_decay", is_pre_norm(name) ? 0.1 : 0.0);
    optimizer = registry.make_optimizer(type, options);
    tiny.model.parameters().make_states(optimizer->states());
    set_parameters(tiny);
  }

  double step(std::int64_t number) {
    tiny.batch.upload(golden_batch(model_name, static_cast<std::uint64_t>(number)));
    const double loss = tiny.loss({1, static_cast<std::uint64_t>(number)});
    auto* squares = reinterpret_cast<double*>(scalars.data());
    kernels::sum_of_squares(device, tiny.model.parameters().gradients(), squares);
    kernels::clip_scale(device, squares, clip, 1.0, squares + 1);
    optimizer->update(device, tiny.model.parameters().blocks(squares + 1), 0.01, number);
    return loss;
  }

  std::string model_name;
  Device device;
  TinyModel tiny;
  std::unique_ptr<Optimizer> optimizer;
  double clip;
  memory::DeviceBuffer scalars;
};

struct Case {
  std::string name;
  config::Precision precision;
};
void PrintTo(const Case& c, std::ostream* stream) {
  *stream << c.name;
}

class Golden : public ::testing::TestWithParam<Case> {
 protected:
  Golden() : registry(load_builtin_plugins()), run(registry, GetParam().name, GetParam().precision) {}

  const json golden = load_golden(GetParam().name);
  const Compare compare{GetParam().precision};
  plugin_host::Registry registry;
  GoldenRun run;
};

TEST_P(Golden, LogitsLossAndGradients) {
  model::Model& model = run.tiny.model;
  model.evaluate(run.tiny.batch, {});
  compare("logits", to_host(run.device, model.evaluation_tensor("head.logits")),
          numbers(golden.at("logits")));
  compare("loss", {run.tiny.loss({1, 1})}, {golden.at("losses")[0].get<double>()});
  ASSERT_EQ(model.parameters().slices().size(), golden.at("gradients").size());
  for (const memory::ParameterSlice& slice : model.parameters().slices())
    compare("gradient of " + slice.path, run.tiny.gradient(slice),
            numbers(golden.at("gradients").at(slice.path)));
}

TEST_P(Golden, TenSteps) {
  for (std::int64_t step = 1; step <= 10; ++step) {
    compare("loss of step " + std::to_string(step), {run.step(step)},
            {numbers(golden.at("losses"))[static_cast<std::size_t>(step - 1)]});
    const std::string after = "after_" + std::to_string(step);
    if (!golden.contains(after)) continue;
    for (const memory::ParameterSlice& slice : run.tiny.model.parameters().slices()) {
      // The first steps of Adam follow the sign of a gradient, whatever its size: if its true value is zero,
      // rounding decides, in PyTorch too. That is the part of the keys in the bias: a third of qkv.bias, or
      // half of the bias of keys and values.
      std::vector<double> ours = run.tiny.values(slice);
      std::vector<double> theirs = numbers(golden.at(after).at(slice.path));
      if (slice.path.ends_with("qkv.bias"))
        for (std::size_t i = ours.size() / 3; i < 2 * ours.size() / 3; ++i) theirs[i] = ours[i];
      if (slice.path.ends_with("cross.kv.bias"))
        for (std::size_t i = 0; i < ours.size() / 2; ++i) theirs[i] = ours[i];
      compare(slice.path + " after step " + std::to_string(step), ours, theirs);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(PyTorch, Golden,
                         ::testing::Values(Case{"post_norm", config::Precision::float64},
                                           Case{"pre_norm", config::Precision::float64},
                                           Case{"post_norm", config::Precision::float32},
                                           Case{"pre_norm", config::Precision::float32},
                                           Case{"decoder_post_norm", config::Precision::float64},
                                           Case{"decoder_pre_norm", config::Precision::float64},
                                           Case{"decoder_post_norm", config::Precision::float32},
                                           Case{"decoder_pre_norm", config::Precision::float32},
                                           Case{"encoder_decoder_post_norm", config::Precision::float64},
                                           Case{"encoder_decoder_pre_norm", config::Precision::float64},
                                           Case{"encoder_decoder_post_norm", config::Precision::float32},
                                           Case{"encoder_decoder_pre_norm", config::Precision::float32}),
                         [](const auto& info) {
                           return info.param.name + (info.param.precision == config::Precision::float64
                                                         ? "_float64"
                                                         : "_float32");
                         });

}  // namespace
}  // namespace encore::testing
