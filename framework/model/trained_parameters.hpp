// SPDX-License-Identifier: BSD-3-Clause
// TrainedParameters decides which parameters of a network are trained, and with which factor on the learning
// rate: train.freeze, train.layer_decay, train.lora. Network asks it for the list of its parameters, from
// which memory/ makes the block. Read next: memory/adapters.hpp. The factors of an adapter have the path of
// their matrix with ".lora_a" or ".lora_b" after it, which checkpoints contain.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "config/experiment.hpp"
#include "memory/parameter_block.hpp"

namespace encore::model {

struct Node;

class TrainedParameters {
 public:
  explicit TrainedParameters(const config::TrainTable& train);

  /// Returns every parameter of the nodes by its full path, those of adapters after their matrix. A parameter
  /// that several nodes share occurs once.
  std::vector<memory::NamedParameter> parameters(const std::vector<Node>& nodes) const;
  /// Returns whether the node has a parameter that is trained, itself or through an adapter.
  bool trains(const Node& node) const;
  /// Throws ConfigError with the dotted key of an option that names what the network does not have, and if
  /// nothing is left to train.
  void require_sound(const std::vector<Node>& nodes) const;

 private:
  bool is_frozen(const std::string& path) const;
  bool is_adapted(const std::string& path, const ParameterSpec& spec) const;
  float learning_rate(const Node& node) const;
  void add(const Node& node, const ParameterSpec& spec, std::vector<memory::NamedParameter>& to) const;
  void require_freezable(const std::vector<Node>& nodes) const;
  void require_adaptable(const std::vector<Node>& nodes) const;

  std::vector<std::string> freeze_;  ///< paths of parameters, or their beginnings
  double layer_decay_;               ///< of the learning rate, from level to level
  std::vector<std::string> lora_;    ///< paths of matrices that have an adapter, or their ends
  std::int64_t lora_rank_;
  double lora_scale_;
};

}  // namespace encore::model
