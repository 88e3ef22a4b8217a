// SPDX-License-Identifier: BSD-3-Clause
// SizeAnswer: the answer of `encore-worker size` about one model, which is the numbers of its parameters and
// operations, part by part, and its memory. The worker computes it (worker/size_verb.cpp), `exp plan --size`
// prints it (cli/plan_size.cpp). Users see these members as JSON, so they keep their names.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/json_fields.hpp"

namespace encore::record {

/// A number and its source, a sentence. `assumed`: it was not read from data, so the real one may differ.
struct SourcedNumber {
  std::int64_t value = 0;
  std::string source = {};
  bool assumed = false;
  bool operator==(const SourcedNumber&) const = default;
};
void list(auto& field, A<SourcedNumber> auto& number) {
  field("value", number.value);
  field("source", number.source);
  field("assumed", number.assumed);
}

/// The rows that the task picks for its head.
struct PickedRows {
  std::int64_t value = 0;
  double share = 0.0;
  bool assumed = false;
  bool operator==(const PickedRows&) const = default;
};
void list(auto& field, A<PickedRows> auto& picked) {
  field("value", picked.value);
  field("share", picked.share);
  field("assumed", picked.assumed);
}

/// The batch for which operations and memory are counted. `length` is in tokens.
struct SizedBatch {
  std::int64_t sequences = 0;
  std::int64_t length = 0;
  std::int64_t tokens = 0;
  std::optional<PickedRows> picked = {};
  std::optional<std::int64_t> target_tokens = {};  ///< of a model with a decoder that reads a second text
  bool operator==(const SizedBatch&) const = default;
};
void list(auto& field, A<SizedBatch> auto& batch) {
  field("sequences", batch.sequences);
  field("length", batch.length);
  field("tokens", batch.tokens);
  field.optional("picked", batch.picked);
  field.optional("target_tokens", batch.target_tokens);
}

struct UsedOptimizer {
  std::string type = {};
  std::size_t states = 0;  ///< numbers for each parameter
  bool operator==(const UsedOptimizer&) const = default;
};
void list(auto& field, A<UsedOptimizer> auto& optimizer) {
  field("type", optimizer.type);
  field("states", optimizer.states);
}

/// Operations: two for each multiply-add.
struct PartFlops {
  double forward_per_token = 0.0, training_per_token = 0.0;
  double forward = 0.0, training = 0.0;  ///< of the batch
  bool operator==(const PartFlops&) const = default;
};
void list(auto& field, A<PartFlops> auto& flops) {
  field("forward_per_token", flops.forward_per_token);
  field("training_per_token", flops.training_per_token);
  field("forward", flops.forward);
  field("training", flops.training);
}

/// A part of the model; model/model_cost.hpp says what the members mean.
struct SizedPart {
  std::string part = {};
  std::string type = {};
  std::int64_t count = 1;
  std::int64_t parameters = 0;
  std::int64_t trained = 0;
  PartFlops flops = {};
  std::vector<SizedPart> parts = {};
  bool operator==(const SizedPart&) const = default;
};
void list(auto& field, A<SizedPart> auto& part) {
  field("part", part.part);
  field.optional("type", part.type);
  field("count", part.count);
  field("parameters", part.parameters);
  field("trained", part.trained);
  field("flops", part.flops);
  field.optional("parts", part.parts);
}

/// All numbers are in bytes.
struct SizedMemory {
  std::size_t parameters = 0, gradients = 0, optimizer = 0, copies = 0;
  std::size_t activations = 0;  ///< the arena, the larger of the two that follow
  std::size_t activations_training = 0, activations_evaluation = 0;
  std::size_t total = 0;
  bool operator==(const SizedMemory&) const = default;
};
void list(auto& field, A<SizedMemory> auto& memory) {
  field("parameters", memory.parameters);
  field("gradients", memory.gradients);
  field("optimizer", memory.optimizer);
  field("copies", memory.copies);
  field("activations", memory.activations);
  field("activations_training", memory.activations_training);
  field("activations_evaluation", memory.activations_evaluation);
  field("total", memory.total);
}

struct SizeAnswer {
  SourcedNumber vocabulary, labels;
  SizedBatch batch;
  std::string precision;
  UsedOptimizer optimizer;
  std::int64_t gradient_shards = 1;
  SizedPart model;
  SizedMemory memory;
  std::vector<std::string> uncounted;  ///< sub-layers whose products without matrices are not counted
  bool operator==(const SizeAnswer&) const = default;
};
void list(auto& field, A<SizeAnswer> auto& answer) {
  field("vocabulary", answer.vocabulary);
  field("labels", answer.labels);
  field("batch", answer.batch);
  field("precision", answer.precision);
  field("optimizer", answer.optimizer);
  field("gradient_shards", answer.gradient_shards);
  field("model", answer.model);
  field("memory", answer.memory);
  field("uncounted", answer.uncounted);
}

/// Stands in place of a SizeAnswer if the model cannot be built.
struct SizeProblem {
  std::string key = {};  ///< dotted, of the option with the invalid value; empty: not known
  std::string message = {};
};
void list(auto& field, A<SizeProblem> auto& problem) {
  field("key", problem.key);
  field("message", problem.message);
}

}  // namespace encore::record
