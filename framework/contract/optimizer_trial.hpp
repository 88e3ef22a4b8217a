// SPDX-License-Identifier: BSD-3-Clause
// OptimizerTrial: an optimizer with a few parameters that are pulled towards a target. Between them lie
// elements that belong to no chunk, and an update must leave them as they are. The files of optimizer checks
// make one for each comparison. The gaps must stay, or writes outside are not found. Read next:
// optimizer_checks.cpp.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <encore/plugin.hpp>

#include "contract/test_memory.hpp"
#include "memory/parameter_block.hpp"

namespace encore::contract {

struct OptimizerSetup {
  DType type = DType::float64;
  bool scaled = false;  ///< with the factor 0.5 of clipping
  /// Whether each trained parameter decays, as its segment has it.
  std::array<bool, 3> decay = {false, false, true};
  std::array<float, 3> learning_rates = {1.0F, 1.0F, 1.0F};
};

class OptimizerTrial {
 public:
  static constexpr std::size_t parameters = 3;
  static constexpr double usual_rate = 0.01;

  OptimizerTrial(const Device& device, const Offer& offer, const Options& options,
                 const OptimizerSetup& setup = {});

  std::vector<std::string> states() const { return optimizer_->states(); }

  /// Sets gradients = factor * (values - target), the gradients of half the squared distance to the target.
  void prepare(double factor = 1.0);
  /// Calls the optimizer's update alone.
  void launch(double learning_rate = usual_rate);
  void steps(int count, double factor = 1.0, double learning_rate = usual_rate);
  /// Continues from another trial with the content of a checkpoint: values, states and the number of steps.
  void resume(const OptimizerTrial& other);

  /// Throws Error if an update has written elements outside of its chunks.
  void require_guards() const;
  double distance() const;
  /// Returns the values, then each state, of all parameters.
  std::vector<double> everything() const;
  std::vector<double> values_of(std::size_t parameter) const;

 private:
  struct NamedBlock {
    std::string name;
    Tensor block;
    double guard;  ///< the value of elements outside of chunks
  };
  std::vector<NamedBlock> all_blocks() const;
  void write_guards();
  bool is_guard(std::int64_t element) const;
  const memory::ParameterSlice& trained(std::size_t parameter) const;
  std::vector<double> read(Tensor tensor) const;

  const Device& device_;
  std::unique_ptr<Optimizer> optimizer_;
  memory::ParameterBlock block_;
  OwnedTensor scale_;
  bool scaled_;
  std::vector<std::vector<double>> targets_;  ///< target of each trained parameter
  std::int64_t step_ = 0;
};

}  // namespace encore::contract
