// SPDX-License-Identifier: BSD-3-Clause
// Model: embedding -> blocks -> head, built from an experiment and the layers and heads of the registry.
// train/ drives it for training, infer/ for evaluation and prediction; it owns parameters, step plans and the
// arena. Paths of parameters, and the order of shards and sums, must stay: checkpoints and bits depend on
// them.
//
//   Model model(experiment, model_size(task, vocabulary), registry, device);
//   model.plan(largest_training_shard, largest_evaluation_batch);
//   model.initialize(seed);
//   const double* loss = model.forward_backward(batch, batch.scales(), {seed, step});
//   optimizer.update(device, model.parameters().blocks(clip), learning_rate, step);
//
// Read next: network.cpp (the model's flow on one screen), step_plan.hpp (memory), pass.hpp (forward and
// backward), generation.hpp (sequences that are extended pass by pass).
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <encore/device.hpp>
#include <encore/layer.hpp>

#include "config/experiment.hpp"
#include "memory/parameter_block.hpp"
#include "model/attention_maps.hpp"
#include "model/device_batch.hpp"
#include "model/network.hpp"
#include "model/step_plan.hpp"

namespace encore::plugin_host {
class Registry;
}

namespace encore::model {

class Generation;
class LaidOutWeights;
class Pass;
class RelationDistillation;

/// The values on which the random numbers of a step depend, beside the tensor's path.
struct StepRandom {
  std::uint64_t seed = 0;
  std::uint64_t step = 0;
};

/// The number of parameters of one part: "embedding", "encoder.0", ..., "encoder.norm", "head".
struct PartCount {
  std::string part;
  std::int64_t parameters = 0;
};

class Model {
 public:
  /// Throws ConfigError with the dotted key when an option is invalid for this model (`heads` that do not
  /// divide `width`). Parameters exist from here on. With `use` for inference a model only evaluates: it has
  /// neither gradients nor a training plan. The device must outlive the model, the registry need not.
  Model(const config::Experiment& experiment, const ModelSize& size, const plugin_host::Registry& registry,
        const Device& device, memory::Use use = memory::Use::training);
  ~Model();
  Model(const Model&) = delete;
  Model& operator=(const Model&) = delete;

  /// Lays out the memory of a step for training shards up to `training` and evaluation batches up to
  /// `evaluation` (elementwise bounds); a size without tokens leaves that kind of pass out. A model for
  /// inference gets a second copy of its weights, in the layout of the products. May be called again with
  /// other sizes.
  void plan(const BatchSize& training, const BatchSize& evaluation);

  /// Makes the bits of a sequence in an evaluation pass independent of the sequences beside it, as they
  /// always are with a causal stack. Call it before plan(). It holds on a host, for float32; bits differ from
  /// those of other models in the rounding of products.
  void make_batch_invariant();

  /// Sets every parameter from its initializer, each from a stream of its own.
  void initialize(std::uint64_t seed);
  /// Initializes only the parameters with these paths.
  void initialize(std::uint64_t seed, std::span<const std::string> paths);

  /// Sets parameters().gradients() to the gradients of the loss, shard by shard: each loss of the head summed
  /// over all rows times its scale, and these added up. Returns the loss: one double in device memory, valid
  /// until the next pass. It only launches kernels and allocates nothing.
  const double* forward_backward(const DeviceBatch& batch, std::span<const double> scales, StepRandom random);

  /// Makes backward passes multiply the loss by this factor (a loss scale), so gradients are larger by it;
  /// the returned loss is not. The initial factor is 1.
  void scale_loss(double factor) { loss_factor_ = factor; }
  double loss_factor() const { return loss_factor_; }

  // forward_backward in parts, for ranks, each of which computes some shards of a batch: call
  // begin_gradients(), then shard_gradient() for each own shard; when loss_sums() has the losses of all ranks
  // and the gradients of all are added up, call end_gradients().

  /// Sets parameters().gradients() to 0.
  void begin_gradients();
  /// Leaves the gradients of one shard in parameters().shard_gradients(), and the sums of its losses in its
  /// row (Shard::place) of loss_sums(). It only launches kernels. `seen` is passed to Pass::backward.
  void shard_gradient(const Shard& shard, std::span<const double> scales, StepRandom random,
                      const std::function<void(std::size_t node)>& seen = {});
  /// Returns (S, L) doubles in device memory: the sum of each loss for S shards with examples.
  Tensor loss_sums() const;
  /// Returns the loss like forward_backward().
  const double* end_gradients(std::int64_t shards, std::span<const double> scales);

  /// Evaluates without dropout. `outputs` are device memory for each of outputs(), of the whole batch, and
  /// are overwritten; an output on request (OutputRule::on_request) that is not wanted has an empty tensor.
  /// Without tensors nothing is decoded. Returns the sum over all rows of each loss of the head, a double
  /// each in device memory as above, or null if the batch has no truth.
  const double* evaluate(const DeviceBatch& batch, std::span<const Tensor> outputs);

  /// Computes the states (N, C) of the encoder's last node without dropout, of each shard in turn; `seen` may
  /// read them until it returns. The head and its columns are not used.
  void encode(const DeviceBatch& batch, const std::function<void(Tensor states)>& seen);

  /// Makes training passes learn from the class scores that another model computes for the same rows,
  /// computed without dropout right before each pass, and from its rows if the experiment says so; this model
  /// plans the teacher too. It changes needs() to what both read of a batch, so call it before needs().
  /// Throws Error if the two do not fit. The teacher must be made for inference and must outlive this model.
  void learn_from(Model& teacher);

  /// Returns the attention weights of a scoring pass over a batch of one sequence, without the head. Throws
  /// Error if there is not enough memory for them.
  SequenceAttention attention(const DeviceBatch& batch);
  /// Returns whether any layer has attention weights.
  bool has_attention() const;

  /// Makes memory, beside that of plan(), for sequences that are extended pass by pass, in passes up to
  /// `largest` and to at most `capacity` rows each, those of the first pass included. The weights get a
  /// second copy in the layout of the products, which stays with the model, as does the largest memory of a
  /// generation. The model outlives it. Use one at a time. Throws Error if the model cannot generate.
  std::unique_ptr<Generation> make_generation(const BatchSize& largest, std::int64_t capacity);

  /// Throws Error if make_generation() would, whatever the sizes.
  void require_generation() const;
  /// Returns the network, the nodes in the order of the forward pass.
  const Network& network() const { return *network_; }
  /// Returns the rows of the longest sequence, data.max_length.
  std::int64_t max_length() const { return network_->max_length(); }
  /// Returns what the model reads of a batch, and which losses and outputs it gives.
  const data::BatchNeeds& needs() const { return needs_; }
  const HeadPlan& head() const { return network_->head(); }
  const std::vector<OutputRule>& outputs() const { return network_->head().outputs(); }
  /// Returns whether a sequence's loss depends on the others of its batch.
  bool couples_sequences() const { return network_->head().couples_sequences(); }

  /// Returns the paths of the matrices (out, in) that products may read (product_weights_of).
  std::vector<std::string> product_weights() const;
  /// Makes passes without gradients compute products with these parameters by integers of 8 or 4 bits
  /// (QuantizedProducts); empty: all in the model's precision. Throws Error if that is impossible. Do not
  /// call it while a generation lives.
  void quantize(const std::map<std::string, int>& bits);
  /// Returns the parameters passed to quantize() that a product has read since.
  std::vector<std::string> quantized_products() const;

  /// Reads the loss. Waits for the device.
  double read(const double* loss) const;
  /// Reads the result of evaluate(), which is not null.
  std::vector<double> read_losses(const double* sums) const;

  /// Returns, after evaluate(), a tensor of the evaluation plan by its path, of the last shard, such as
  /// "head.logits". Only what the head wrote is certain to be there; the memory of earlier tensors is reused
  /// within the pass.
  Tensor evaluation_tensor(const std::string& path) const;

  /// Returns, after a loss that is not finite, the first parameter or layer of the forward pass with values
  /// that are not finite, such as "parameter encoder.3.attention.qkv.weight" or "layer encoder.3.attention";
  /// empty when all are finite. Repeats the forward pass of the batch with the same random numbers. Waits for
  /// the device.
  std::string first_not_finite(const DeviceBatch& batch, StepRandom random);

  memory::ParameterBlock& parameters() { return *parameters_; }
  const memory::ParameterBlock& parameters() const { return *parameters_; }
  std::vector<PartCount> parameter_counts() const;

  /// Return the list of steps of a training pass (empty for inference) and of an evaluation. Tensors have
  /// offsets after plan().
  const StepPlan& training_plan() const { return training_plan_; }
  const StepPlan& evaluation_plan() const { return evaluation_plan_; }
  /// Returns the device memory of the passes, without parameters, gradients and optimizer states.
  std::size_t arena_bytes() const { return arena_.bytes(); }
  /// Returns the element type of activations; parameters, gradients and losses are in the type of sums.
  DType precision() const;
  const Device& device() const { return device_; }

 private:
  void initialize(std::uint64_t seed, const memory::ParameterSlice& slice);
  memory::DeviceBuffer memory_of_losses() const;
  /// Updates, before a pass without gradients, the copies of the parameters that passes see, if the
  /// parameters have changed.
  void refresh_weights();
  /// Lays out the weights that no product reads as integers.
  void lay_out();
  /// Gives the evaluation pass the weights that are laid out.
  void use_laid_out();
  /// Launches the sums of a shard's losses, whose rows the pass has just computed. `relations` are those of
  /// what it learns of a teacher's rows, if it does; empty in evaluation.
  void sum_losses(std::span<const Tensor> losses, Tensor relations, std::int64_t shard);
  /// Computes the total of each loss, then the total of all losses.
  const double* total_losses(std::int64_t shards, std::span<const double> scales);
  /// Binds the training pass to a shard, after the teacher has scored it.
  void start_training(const Shard& shard, StepRandom random);
  /// Returns the class scores (rows, K) of a batch in an evaluation pass (HeadPlan::class_scores), valid
  /// until the next pass. `relations`, if given, see the layers.
  Tensor class_scores(const Batch& batch, RelationDistillation* relations);
  bool knows_truth(const Batch& batch) const;
  void decode(const Shard& shard, std::span<const Tensor> outputs);

  const Device& device_;
  memory::Use use_;
  double loss_factor_ = 1.0;
  bool batch_invariant_ = false;  ///< evaluation passes
  std::unique_ptr<Network> network_;
  data::BatchNeeds needs_;
  std::unique_ptr<memory::ParameterBlock> parameters_;
  StepPlan training_plan_;
  StepPlan evaluation_plan_;
  memory::DeviceBuffer arena_;
  std::int64_t shards_;
  memory::DeviceBuffer losses_;                ///< doubles: (S, L) sums of the shards, then (L + 1) totals
  memory::DeviceBuffer generation_memory_;     ///< of generations, between them
  std::unique_ptr<LaidOutWeights> laid_out_;   ///< null: products read the matrices
  std::unique_ptr<LaidOutWeights> quantized_;  ///< null: no parameter is
  Model* teacher_ = nullptr;                   ///< null: there is none
  Batch teacher_batch_;                        ///< the shard as the teacher reads it: without the truth
  /// For each column of the teacher's head, the matching one of this model; -1: it holds the truth.
  std::vector<int> teacher_columns_;
  std::unique_ptr<RelationDistillation> relations_;  ///< null: nothing is learned from the teacher's rows
  std::unique_ptr<Pass> training_;
  std::unique_ptr<Pass> evaluation_;
};

}  // namespace encore::model
