// SPDX-License-Identifier: BSD-3-Clause
// Evaluator: runs a model over a set without dropout and collects its outputs, the mean loss and, for a task
// that wants it, generated text (generator.hpp). Place in the flow: train/trainer.cpp scores dev and test
// with it, Engine answers and evaluates with it. The number of ranks must never change a bit of the result
// (run()).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include <encore/decoding.hpp>
#include <encore/task.hpp>
#include <encore/tokenizer.hpp>

#include "data/batch_plan.hpp"
#include "data/packing.hpp"
#include "distributed/communicator.hpp"
#include "model/device_batch.hpp"
#include "model/model.hpp"
#include "tasks/encoded_sets.hpp"

namespace encore::infer {

struct Evaluation {
  Outputs outputs;
  double loss = 0.0;  ///< sum of the means of the head's losses; NaN unless every example's truth is known
};

/// The progress of an evaluation: first of the scored sequences, then of those with generated text.
struct EvaluationProgress {
  bool writes = false;            ///< false while sequences are scored, true while text is generated
  std::size_t done = 0, all = 0;  ///< sequences
};
using EvaluationWatch = std::function<void(const EvaluationProgress&)>;

/// How an Evaluator generates text, for a task whose measures or answers use generated text (Task::decoding).
struct TextGeneration {
  const Tokenizer* tokenizer = nullptr;
  Decoding decoding = {};
};

/// Returns the decoding of the task; empty if it generates no text.
std::optional<TextGeneration> text_generation(const Task& task, const Tokenizer& tokenizer);

/// Which outputs of the head are collected.
enum class Collected : std::uint8_t {
  usual,  ///< all outputs except those with OutputRule::on_request
  all
};

/// Returns the order in which a model's evaluation batches are formed.
data::EvaluationOrder evaluation_order(const model::Model& model);

class Evaluator {
 public:
  /// `largest`: the batch that the model was planned for; no later batch may be larger. With `texts` the
  /// outputs also hold the generated text of each sequence; if the truth is not known, they hold only that
  /// text. With N ranks, each scores every N-th batch, and all get all outputs; every rank generates all text
  /// itself. `model` and `ranks` must outlive the Evaluator.
  Evaluator(model::Model& model, const BatchSize& largest, const data::BatchOptions& options,
            std::optional<TextGeneration> texts = {},
            distributed::Communicator& ranks = distributed::only_rank(),
            Collected collected = Collected::usual);

  /// Scores the set. The number of ranks never changes a bit of the result: each batch has its own sums,
  /// which are added in the order of the batches. Other batches change only the rounding, except with a loss
  /// that compares the sequences of a batch, such as a contrastive one, which they change. All ranks must
  /// call it.
  Evaluation run(const ExampleSet& set, const EvaluationWatch& watch = {});

 private:
  using Batches = std::vector<std::vector<std::int32_t>>;

  bool collects(const OutputRule& rule) const { return !rule.on_request || collected_ == Collected::all; }
  void score(std::vector<double>& sums);
  bool is_of(int rank, std::size_t batch) const;
  template <class Use>
  void each_piece(int rank, const ExampleSet& set, const Batches& batches,
                  std::vector<std::vector<double>>& sums, Outputs& outputs, const Use& use) const;
  void share(const ExampleSet& set, const Batches& batches, std::vector<std::vector<double>>& sums,
             Outputs& outputs);
  void collect(const ExampleSet& set, Outputs& outputs);

  model::Model& model_;
  data::BatchOptions options_;
  std::optional<TextGeneration> texts_;
  distributed::Communicator& ranks_;
  Collected collected_;
  model::DeviceBatch batch_;
  data::PackedBatch packed_;
  std::vector<OutputRule> rules_;             ///< of the outputs that are collected
  std::vector<memory::DeviceBuffer> memory_;  ///< of these, for one batch
  std::vector<Tensor> outputs_;               ///< by Model::outputs, empty where an output is not collected
  std::vector<std::byte> host_;
  std::vector<std::int64_t> first_rows_;
};

}  // namespace encore::infer
