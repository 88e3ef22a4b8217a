// SPDX-License-Identifier: BSD-3-Clause
// Shared by tests of models (unit/model, golden, seams, contract): a registry with the built-in plugins,
// small experiments written without TOML, small batches, and copies of parameters and gradients on the host.
// Stored numbers in golden/ depend on Numbers, make_batch() and tiny_experiment(), which the scripts
// golden/make_*.py repeat in Python: change neither side alone.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <encore/elements.hpp>

#include "config/catalogue.hpp"
#include "config/experiment.hpp"
#include "data/packing.hpp"
#include "memory/device_memory.hpp"
#include "model/floats.hpp"
#include "model/model.hpp"
#include "plugin_host/registry.hpp"
#include "support/places.hpp"

namespace encore::testing {

inline std::vector<std::filesystem::path> plugin_folders() {
  return {std::filesystem::path(ENCORE_BUILD_DIR) / "lib/encore/plugins"};
}

/// Returns a new registry with every built-in plugin.
inline plugin_host::Registry load_builtin_plugins() {
  plugin_host::Registry registry;
  registry.load_all(config::Catalogue::load(plugin_folders()));
  for (const plugin_host::LoadFailure& failure : registry.failures()) throw Error(failure.reason);
  return registry;
}

/// Returns the defaults of a schema.
inline Options defaults(const Schema& schema) {
  Options options;
  for (const Option& option : schema.options())
    if (option.fallback) options.set_default(option.name, *option.fallback);
  return options;
}

using Changes = std::map<std::string, OptionValue>;

inline void fill_table(config::PluginTable& table, const plugin_host::Registry& registry, Kind kind,
                       const std::string& key, const std::string& type, const Changes& changes) {
  table.key = key;
  table.type = type;
  table.options = defaults(registry.offer(kind, type).options);
  for (const auto& [name, value] : changes) table.options.set(name, value);
}

inline config::LayerTable layer_table(const plugin_host::Registry& registry, const std::string& name,
                                      const std::string& type, const Changes& changes = {}) {
  config::LayerTable table;
  table.name = name;
  fill_table(table, registry, Kind::layer, "model.layer." + name, type, changes);
  return table;
}

/// Returns an experiment with two blocks of attention (2 heads) and feed-forward (12 hidden) of width 8, no
/// dropout, in double precision.
inline config::Experiment tiny_experiment(const plugin_host::Registry& registry) {
  config::Experiment experiment;
  experiment.data.max_length = 9;
  config::ModelTable& model = experiment.model;
  model.width = 8;
  model.layers = 2;
  model.norm = layer_table(registry, "norm", "layer_norm");
  model.norm.key = "model.norm";
  model.block = {layer_table(registry, "attention", "self_attention", {{"heads", std::int64_t{2}}}),
                 layer_table(registry, "feed_forward", "feed_forward", {{"hidden", std::int64_t{12}}})};
  fill_table(model.head, registry, Kind::head, "model.head", "linear", {});
  experiment.train.precision = config::Precision::float64;
  experiment.train.gradient_shards = 1;
  return experiment;
}

inline model::ModelSize tiny_size() {
  return {.vocabulary = 11,
          .labels = {"O", "B-X", "I-X", "B-Y", "I-Y"},
          .columns = {{.name = targets_column, .truth = true}, {.name = "labelled"}},
          .outputs = {{.name = classes_output}}};
}

inline model::ModelSize size_with(std::int64_t vocabulary) {
  model::ModelSize size = tiny_size();
  size.vocabulary = vocabulary;
  return size;
}

/// Pseudorandom numbers from a linear congruential generator, whose formula is the same in the Python scripts
/// of golden/.
class Numbers {
 public:
  explicit Numbers(std::uint64_t seed) : state_(seed * 2654435761U + 12345U) { next(); }
  /// Returns an integer in [0, 2^31).
  std::uint64_t next() { return state_ = (state_ * 1103515245U + 12345U) % 2147483648U; }
  std::int32_t below(std::int32_t bound) {
    return static_cast<std::int32_t>((next() >> 8) % static_cast<std::uint64_t>(bound));
  }
  /// Returns a number in [-1, 1).
  double symmetric() { return static_cast<double>(next()) / 1073741824.0 - 1.0; }

 private:
  std::uint64_t state_;
};

inline double weight_of(const std::vector<std::int32_t>& targets) {
  return static_cast<double>(std::ranges::count_if(targets, [](std::int32_t t) { return t != no_target; }));
}

/// Returns a batch of sequences of these lengths, with tokens below `vocabulary`. Every third row has no
/// target, the others have one below `classes`. Sequence s is example number 100 + s.
inline data::PackedBatch make_batch(const std::vector<std::int32_t>& lengths, std::int32_t vocabulary,
                                    std::int32_t classes, std::uint64_t seed) {
  Numbers numbers(seed);
  data::PackedBatch batch;
  batch.columns.resize(1);
  batch.known = {true};
  std::vector<std::int32_t>& targets = batch.columns[0].integers;
  batch.offsets.push_back(0);
  batch.borders.push_back(0);
  for (std::size_t s = 0; s < lengths.size(); ++s) {
    for (std::int32_t t = 0; t < lengths[s]; ++t) {
      batch.ids.push_back(numbers.below(vocabulary));
      targets.push_back(batch.ids.size() % 3 == 0 ? no_target : numbers.below(classes));
      batch.positions.push_back(t);
    }
    batch.offsets.push_back(static_cast<std::int32_t>(batch.ids.size()));
    batch.sequences.push_back(static_cast<std::int64_t>(100 + s));
    batch.borders.push_back(static_cast<std::int32_t>(s) + 1);
  }
  batch.real_tokens = static_cast<std::int64_t>(batch.ids.size());
  batch.weights = {weight_of(targets)};
  return batch;
}

/// Adds to a batch of make_batch the column that the head "crf" reads beside the targets.
inline void add_labelled(data::PackedBatch& batch) {
  EncodedExample::Column labelled;
  for (const std::int32_t target : batch.columns[0].integers)
    labelled.integers.push_back(std::min(target, 0));
  batch.columns.push_back(std::move(labelled));
  batch.known.push_back(true);
}

/// Returns the sequences of one range of make_batch's batch as a batch of their own.
inline data::PackedBatch part_of(const data::PackedBatch& batch, const data::SequenceRange& range) {
  const auto first = static_cast<std::size_t>(range.first), last = static_cast<std::size_t>(range.last);
  const std::int32_t begin = batch.offsets[first], end = batch.offsets[last];
  const auto rows = [&](const std::vector<std::int32_t>& all) {
    return std::vector<std::int32_t>(all.begin() + begin, all.begin() + end);
  };
  data::PackedBatch part;
  part.ids = rows(batch.ids);
  part.positions = rows(batch.positions);
  part.columns.resize(1);
  part.columns[0].integers = rows(batch.columns[0].integers);
  part.known = {true};
  part.sequences.assign(batch.sequences.begin() + range.first, batch.sequences.begin() + range.last);
  for (std::size_t i = first; i <= last; ++i) {
    part.offsets.push_back(batch.offsets[i] - begin);
    part.borders.push_back(static_cast<std::int32_t>(i - first));
  }
  part.weights = {weight_of(part.columns[0].integers)};
  return part;
}

inline data::PackedBatch tiny_batch(std::uint64_t seed = 1) {
  return make_batch({5, 1, 9, 3}, 11, 5, seed);
}

/// Returns a tensor of floating-point numbers as doubles on the host.
inline std::vector<double> to_host(const Device& device, Tensor tensor) {
  return model::doubles_of(device, tensor);
}

inline void to_device(const Device& device, const std::vector<double>& values, Tensor tensor) {
  ENCORE_REQUIRE(static_cast<std::int64_t>(values.size()) == tensor.size(),
                 "as many values as the tensor has elements");
  dispatch(tensor.dtype, [&](auto type) {
    using T = decltype(type);
    std::vector<T> elements;
    for (const double value : values) elements.push_back(static_cast<T>(static_cast<Sum<T>>(value)));
    memory::copy_from_host(device, elements.data(), tensor);
  });
}

/// A model planned for one batch, and this batch in device memory.
struct TinyModel {
  TinyModel(const config::Experiment& experiment, const model::ModelSize& size,
            const plugin_host::Registry& registry, const Device& used_device, const data::PackedBatch& packed)
      : device(used_device),
        model(experiment, size, registry, used_device),
        batch(used_device, packed.size(), model.needs(), experiment.train.gradient_shards),
        scales({1.0 / packed.weights.at(0)}) {
    model.plan(packed.size(), packed.size());
    batch.upload(packed);
  }

  double loss(model::StepRandom random) { return model.read(model.forward_backward(batch, scales, random)); }
  std::vector<double> values(const memory::ParameterSlice& slice) const {
    return to_host(device, memory::ParameterBlock::slice(model.parameters().values(), slice));
  }
  std::vector<double> gradient(const memory::ParameterSlice& slice) const {
    return to_host(device, memory::ParameterBlock::slice(model.parameters().gradients(), slice));
  }
  void set_values(const memory::ParameterSlice& slice, const std::vector<double>& values) {
    to_device(device, values, memory::ParameterBlock::slice(model.parameters().values(), slice));
    model.parameters().values_changed();
  }

  const Device& device;
  model::Model model;
  model::DeviceBatch batch;
  std::vector<double> scales;  ///< the factor of each loss: 1 / the number of its targets
};

}  // namespace encore::testing
