// SPDX-License-Identifier: BSD-3-Clause
// Network is the model as a list of nodes in the order of the forward pass. Most are layers: the embedding is
// one without inputs, the residual sum one with two; a norm that takes a sum has two as well. Others pick
// rows for the head, which is the last. Model makes it from the experiment; StepPlan reads what the nodes
// declared, Pass runs them. Paths must stay: checkpoints contain them, and random streams are their hashes.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <encore/head.hpp>
#include <encore/layer.hpp>

#include "config/experiment.hpp"
#include "data/packing.hpp"
#include "memory/parameter_block.hpp"
#include "model/trained_parameters.hpp"

namespace encore::plugin_host {
class Registry;
}

namespace encore::model {

/// The facts about the data that a model needs.
struct ModelSize {
  std::int64_t vocabulary = 0;
  std::vector<std::string> labels = {};
  std::vector<ColumnRule> columns = {};  ///< what the task fills
  std::vector<OutputRule> outputs = {};  ///< what the task reads
  /// The number of tokens of targets if these have a vocabulary of their own; 0: both sides share one.
  std::int64_t targets = 0;
};

/// The parameter with the vectors of tokens: of both sides of a model with a decoder, or of its targets if
/// these have a vocabulary of their own. Then source_token_table has those of its sources.
inline constexpr const char* token_table = "embedding.tokens";
inline constexpr const char* source_token_table = "encoder.embedding.tokens";

/// The number of the node that writes a tensor (rows, C) between nodes.
using ValueIndex = int;
inline constexpr ValueIndex no_value = -1;

/// The sum trunk + dropout(branch) that a layer adds up itself (LayerPlan::take_sum).
struct InputSum {
  std::string path;  ///< names its random stream, like that of a node of its own
  double dropout = 0.0;
};

/// A layer, the head, or a step that picks rows, with what it declared.
struct Node {
  std::string path;  ///< names its buffers and random streams
  std::string
      parameter_path;  ///< names its parameters: the path, or that of the node whose parameters it shares
  std::unique_ptr<Layer> layer;  ///< null for the head and for nodes that pick rows
  std::unique_ptr<Head> head;    ///< null for all others
  LayerPlan plan;
  std::vector<ValueIndex> inputs;
  Space space = Space::tokens;  ///< of the output's rows
  std::string part = {};        ///< "embedding", "encoder", "decoder.embedding", "decoder" or "head"
  std::int64_t block = -1;      ///< of its stack; -1: it stands outside of blocks
  std::string type = {};        ///< in the words of an experiment; empty for the model's own nodes
  /// The distance of its parameters to the head: 0 for the head and what belongs to no block, 1 for the last
  /// block of a stack, one more for each block before it and for the embedding.
  std::int64_t level = 0;
  /// The input whose memory the output takes over because it is no longer needed, or -1.
  int in_place_input = -1;
  /// Inputs whose gradient is the output's gradient, unchanged: they need no memory and no copy.
  std::vector<int> passed_inputs = {};
  /// Set if the layer's input is a sum: the inputs are {branch, trunk}, and the layer leaves the sum in the
  /// branch's memory, which is no longer needed otherwise.
  std::optional<InputSum> sum = {};
  /// `layer "highway" of plugin /p/my_layers.so`; empty for the model's own nodes.
  std::string owner = {};
};

class Network {
 public:
  /// Throws ConfigError with the dotted key of the option that does not fit.
  Network(const config::Experiment& experiment, const ModelSize& size, const plugin_host::Registry& registry,
          const Device& device);

  const std::vector<Node>& nodes() const { return nodes_; }
  /// Returns the element type of activations.
  DType precision() const { return precision_; }
  std::int64_t max_length() const { return max_length_; }
  /// Returns whether the model has a causal stack: a decoder, or a single stack that is causal.
  bool is_causal() const { return causal_; }
  /// Returns the rows that a generation makes: those of the decoder, or of the single stack.
  Space generated_space() const { return generated_space_; }
  /// Returns the last node of the encoder, or of the single stack.
  ValueIndex states() const { return states_; }
  /// Returns which tensors backward passes compute again instead of keeping them (train.recompute).
  config::Recompute recompute() const { return recompute_; }
  /// Returns what the model learns from a teacher's rows in training ([distil] states and attention).
  const config::Relations& relations() const { return relations_; }
  /// Returns the declaration of the head.
  const HeadPlan& head() const { return head_; }
  /// Returns whether a column of the head exists only if the truth is known.
  bool is_truth(std::size_t column) const { return truths_[column]; }
  data::BatchNeeds needs() const;
  /// Returns every parameter by its full path; one that several nodes share occurs once.
  std::vector<memory::NamedParameter> parameters() const;
  /// Returns by path the number of the first node that has the parameter. In a backward pass it is the last
  /// to add to its gradient.
  std::map<std::string, std::size_t> first_users() const;
  /// Returns whether a node has a parameter that is trained.
  bool trains(const Node& node) const;

 private:
  std::vector<Node> nodes_;
  HeadPlan head_;
  std::vector<bool> truths_;
  TrainedParameters trained_;
  std::int64_t vocabulary_;  ///< of the first text
  std::int64_t targets_;     ///< tokens of the second text, and of the head; may be the same ones
  DType precision_;
  std::int64_t width_;
  std::int64_t max_length_;
  std::int64_t segments_;
  bool causal_;
  Space generated_space_;
  config::Recompute recompute_;
  config::Relations relations_;
  ValueIndex states_ = no_value;
};

/// Returns the full path of a node's parameter, its own or another's.
std::string path_of(const Node& node, const ParameterSpec& spec);

/// Returns the random stream of a tensor: a hash of "path/purpose" that no later version may change.
std::uint64_t random_stream(std::string_view path, std::string_view purpose);

// head_fit.cpp implements the next three functions, which the constructor of Network calls: they check
// whether the head fits its task and the other parts of the model.

/// Throws ConfigError if the head reads a column that the task does not fill accordingly, does not give what
/// the task reads, couples the sequences of a batch that is to be cut, or cannot learn from the given
/// teacher; and if the task's segments are not what an embedding can read.
void require_fit(const HeadPlan& head, const config::Experiment& experiment, const ModelSize& size);
/// Throws ConfigError unless every part of the model is read by another, up to the head.
void require_readers(const std::vector<Node>& nodes, const config::Experiment& experiment);
/// Throws ConfigError unless every tied parameter is one of another part, with the same shape.
void require_aliases(const std::vector<Node>& nodes, const config::Experiment& experiment);

}  // namespace encore::model
