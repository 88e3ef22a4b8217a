// Network: the model as a list of nodes in the order of the forward pass. Everything but the head is a Layer:
// the embedding is one without inputs, the residual sum one with two; a norm that takes a sum has two as
// well. Place in the flow: made by Model from the experiment; StepPlan reads what the nodes declared, Pass
// runs them.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <encore/head.hpp>
#include <encore/layer.hpp>

#include "config/experiment.hpp"
#include "memory/parameter_block.hpp"

namespace encore {

class Registry;

/// A tensor (N, C) between nodes, by the number of the node that writes it.
using Value = int;

/// The sum trunk + dropout(branch) that a layer adds up itself (LayerPlan::take_sum).
struct InputSum {
  std::string path;  ///< names its random stream, as it would a node of its own
  double dropout = 0.0;
};

struct Node {
  std::string path;  ///< names its buffers and random streams
  std::string
      parameter_path;  ///< names its parameters: the path, or that of the node whose parameters it shares
  std::unique_ptr<Layer> layer;  ///< null for the head
  std::unique_ptr<Head> head;    ///< null for all others
  LayerPlan plan;
  std::vector<Value> inputs;
  /// The input whose memory the output takes over where nobody needs that input any more, or -1.
  int in_place_input = -1;
  /// Inputs whose gradient is the output's gradient, unchanged: no memory, no copy.
  std::vector<int> passed_inputs = {};
  /// Where the layer's input is a sum: the inputs are {branch, trunk}, and the layer leaves the sum in the
  /// branch's memory, which nobody else needs any more.
  std::optional<InputSum> sum = {};
  /// `layer "highway" of plugin /p/my_layers.so`; empty for what is the model's own.
  std::string owner = {};
};

class Network {
 public:
  /// Throws ConfigError with the dotted key of the option that does not fit.
  Network(const Experiment& experiment, std::int64_t vocabulary, const std::vector<std::string>& labels,
          const Registry& registry, const Device& device);

  const std::vector<Node>& nodes() const { return nodes_; }
  /// The element type of activations.
  DType precision() const { return precision_; }
  std::int64_t width() const { return width_; }
  std::int64_t max_length() const { return max_length_; }
  /// Every parameter by its full path; one that several nodes share stands here once.
  std::vector<NamedParameter> parameters() const;

 private:
  class Builder;

  std::vector<Node> nodes_;
  DType precision_;
  std::int64_t width_;
  std::int64_t max_length_;
};

/// The stream of random numbers of a tensor: a hash of "path/purpose" that no later version may change.
std::uint64_t random_stream(std::string_view path, std::string_view purpose);

}  // namespace encore
