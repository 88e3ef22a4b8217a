// SPDX-License-Identifier: BSD-3-Clause
// CopyTest: the fixture of the tests of two stacks (stacks_test.cpp, generation_test.cpp,
// generator_test.cpp): batches of pairs, inputs to copy, and a small model of encoder and decoder that learns
// to copy them.
#pragma once

#include <gtest/gtest.h>

#include "seams/parts.hpp"
#include "support/tiny_model.hpp"
#include "train/training_step.hpp"

namespace encore::testing {

inline constexpr std::int32_t vocabulary = 12, start = 0, end = 1;

struct Pair {
  std::vector<std::int32_t> source, target;
};

/// Returns a batch in which the decoder reads `start` and then the target, and must write the target and then
/// `end`.
inline data::PackedBatch pack_pairs(const std::vector<Pair>& pairs) {
  data::PackedBatch batch;
  batch.columns.resize(1);
  batch.known = {true};
  batch.offsets = batch.target.offsets = batch.borders = {0};
  for (const Pair& pair : pairs) {
    const auto add = [](data::PackedRows& rows, std::int32_t id, std::size_t position) {
      rows.ids.push_back(id);
      rows.positions.push_back(static_cast<std::int32_t>(position));
    };
    for (std::size_t i = 0; i < pair.source.size(); ++i) add(batch, pair.source[i], i);
    for (std::size_t i = 0; i <= pair.target.size(); ++i) {
      add(batch.target, i == 0 ? start : pair.target[i - 1], i);
      batch.columns[0].integers.push_back(i < pair.target.size() ? pair.target[i] : end);
    }
    batch.offsets.push_back(static_cast<std::int32_t>(batch.ids.size()));
    batch.target.offsets.push_back(static_cast<std::int32_t>(batch.target.ids.size()));
    batch.sequences.push_back(static_cast<std::int64_t>(batch.sequences.size()));
    batch.borders.push_back(static_cast<std::int32_t>(batch.sequences.size()));
  }
  batch.weights = {static_cast<double>(batch.columns[0].integers.size())};
  return batch;
}

/// Returns pairs whose source and target are equal, of one to six words,, drawn from `numbers`.
inline std::vector<Pair> copies(Numbers& numbers, int count) {
  std::vector<Pair> pairs;
  for (int i = 0; i < count; ++i) {
    std::vector<std::int32_t> text;
    for (std::int32_t k = 0; k <= numbers.below(6); ++k) text.push_back(2 + numbers.below(vocabulary - 2));
    pairs.push_back({text, text});
  }
  return pairs;
}

/// Makes models of two stacks from layers that ship and the head "tied_words" of masked_words.cpp.
struct CopyTest : ::testing::Test {
  CopyTest() : registry(load_builtin_plugins()) {
    Registrar offers;
    encore_seams::add_masked_words(offers);
    registry.add("this test", offers);
  }
  config::Experiment experiment(config::NormPosition position = config::NormPosition::post) {
    config::Experiment experiment = tiny_experiment(registry);
    config::ModelTable& model = experiment.model;
    model.norm_position = position;
    model.decoder.emplace();
    model.decoder->layers = 2;
    model.decoder->block = {model.block[0],
                            layer_table(registry, "cross", "cross_attention", {{"heads", std::int64_t{2}}}),
                            model.block[1]};
    fill_table(model.head, registry, Kind::head, "model.head", "tied_words", {});
    return experiment;
  }
  static model::ModelSize size() {
    return {.vocabulary = vocabulary,
            .columns = {{.name = "next", .space = Space::target, .truth = true}},
            .outputs = {{.name = "words", .space = Space::target}}};
  }
  /// `targets`: the number of tokens of targets if these have a vocabulary of their own.
  std::unique_ptr<TinyModel> make(const config::Experiment& of, const data::PackedBatch& packed,
                                  std::int64_t targets = 0) {
    model::ModelSize needs = size();
    needs.targets = targets;
    auto tiny = std::make_unique<TinyModel>(of, needs, registry, device, packed);
    tiny->model.initialize(1);
    return tiny;
  }
  /// Returns an experiment in float32, with one block in each stack.
  config::Experiment copying_experiment() {
    config::Experiment of = experiment(config::NormPosition::pre);
    of.model.width = 32;
    of.model.decoder->layers = of.model.layers = 1;
    of.train.precision = config::Precision::float32;
    return of;
  }
  /// Returns a size into which batches of 32 inputs of copies() fit.
  static BatchSize largest_copies() { return {{32 * 6, 32, 32 * 36, 6}, {32 * 7, 32, 32 * 49, 7}}; }
  /// Trains a model of copying_experiment() to copy, with inputs from `numbers`. The model is planned for
  /// largest_copies().
  void train_to_copy(model::Model& model, Numbers& numbers) {
    model.plan(largest_copies(), largest_copies());
    model.initialize(1);
    const auto optimizer =
        registry.make_optimizer("adam", defaults(registry.offer(Kind::optimizer, "adam").options));
    model.parameters().make_states(optimizer->states());
    model::DeviceBatch batch(device, largest_copies(), model.needs());
    train::TrainingStep step(model, *optimizer, 1.0);
    for (int i = 1; i <= 600; ++i) {
      batch.upload(pack_pairs(copies(numbers, 32)));
      step.compute_gradient(batch, {1, static_cast<std::uint64_t>(i)});
      step.update(3e-3 * std::min(1.0, i / 50.0), i);
    }
  }
  std::vector<double> logits(TinyModel& tiny) {
    tiny.model.evaluate(tiny.batch, {});
    return to_host(device, tiny.model.evaluation_tensor("head.logits"));
  }

  Device device;
  plugin_host::Registry registry;
};

}  // namespace encore::testing
