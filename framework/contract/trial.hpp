// SPDX-License-Identifier: BSD-3-Clause
// Trial: one layer or head with a batch of its own, as the contract in encore/layer.hpp allows it: memory
// without a promised content is filled with NaN before each pass, so that code that relies on it fails at
// once. layer_checks.cpp runs every check of layers and heads on trials. Read next: suite.hpp.
#pragma once

#include <limits>
#include <memory>
#include <string>
#include <vector>

#include <encore/plugin.hpp>

#include "contract/gradient_check.hpp"
#include "contract/head_memory.hpp"

namespace encore::contract {

/// The value of memory that must not be read.
inline constexpr double nan = std::numeric_limits<double>::quiet_NaN();

struct TrialSetup {
  std::int64_t width = 8;
  std::vector<std::int64_t> lengths = {5, 1, 9, 3};
  std::vector<std::int64_t> examples = {};  ///< number of each sequence's example; empty: any
  DType type = DType::float64;
  std::uint64_t seed = 1;
  bool training = true;
  Space targets = Space::tokens;  ///< for a head: the space of the task's column "targets"
  bool weighed = false;           ///< for a head: the task has the column "weights" too
  bool taught = false;            ///< the head, or the layer with relations, has a teacher
};

/// A tensor that a pass has computed.
struct TrialResult {
  std::string name;
  std::vector<double> values;
  std::int64_t row_width = 0;            ///< values per row; 0: a parameter's gradient
  std::vector<std::int64_t> first = {};  ///< first row of each sequence
};

class Trial {
 public:
  Trial(const Device& device, const TrialSetup& setup);
  virtual ~Trial() = default;
  Trial(const Trial&) = delete;
  Trial& operator=(const Trial&) = delete;

  /// Runs forward of a layer, or loss of a head, and decode too outside of training. Throws Error for a
  /// forbidden write.
  void forward();
  /// Runs `backward` after `forward`. Parameter gradients hold 0.5 before, and backward must add to them;
  /// `held` is the value of the input's gradient before. Throws Error if a rule of the contract is broken.
  void backward(double held = std::numeric_limits<double>::quiet_NaN());
  /// Returns the result of the last forward pass as one number: a weighted sum of the outputs, or of the
  /// losses.
  double objective() const;
  /// Runs another forward pass, at a point near a checked one, and returns its objective. It only computes
  /// and checks nothing.
  double objective_here();
  /// Returns input and parameters with the gradients of the last backward pass.
  std::vector<CheckedTensor> tensors();
  /// Returns the results of the last passes: output (losses, predictions), and in training all gradients.
  std::vector<TrialResult> results();

  /// These functions do the host's part of a pass (fill memory) and the object's part (launch) separately, so
  /// that the work of the object can be counted.
  void prepare_forward();
  void prepare_backward(double held);
  void launch_forward();
  void launch_backward();

  const OwnedBatch& batch() const { return batch_; }
  /// Returns the declarations of the object.
  virtual const LayerPlan& plan() const = 0;
  /// Sets the seed of the random numbers of the passes that follow.
  void set_step(std::uint64_t step) { memory().set_step(step); }
  /// Returns the results of the last forward pass, without gradients.
  const std::vector<TrialResult>& forward_results() const { return outputs_; }
  /// Returns HeadPlan::couple_sequences of a head; false for a layer.
  virtual bool couples_sequences() const { return false; }

 protected:
  /// An input of the layer or head, with its gradient.
  struct Input {
    std::string name;
    SpaceRows rows;
    OwnedTensor* values = nullptr;
    OwnedTensor* gradient = nullptr;
  };

  /// Returns numbers that depend only on example, position and channel, not on the row.
  std::vector<double> row_values(const SpaceRows& rows, std::int64_t width, std::uint64_t purpose) const;

  virtual OwnedPlan& memory() = 0;
  virtual std::vector<Input> inputs() = 0;
  virtual void run_forward() = 0;
  virtual void run_backward() = 0;
  virtual void poison_output() = 0;
  virtual double read_objective() const = 0;
  virtual std::vector<TrialResult> outputs() const = 0;
  /// Returns OwnedTensor::overrun of tensors outside of memory() and the inputs.
  virtual std::string overrun_outside() = 0;
  /// Called before and after backward: hides memory that need not be there, and checks that read-only memory
  /// is unchanged.
  virtual void hide_before_backward() {}
  virtual void require_unchanged() const {}

  const Device& device_;
  TrialSetup setup_;
  OwnedBatch batch_;

 private:
  /// Fills the inputs when they are first needed.
  void fill_inputs();
  void require_inputs(const char* pass);
  /// Checks that the passes do not change parameters, and do not write beside any tensor.
  void require_parameters(const char* pass, const std::vector<std::vector<double>>& before);
  void require_guards(const char* pass);
  std::vector<std::vector<double>> parameter_values();
  /// Checks parameters with `token_rows` after backward: the rows of other tokens are unchanged.
  void require_token_rows();

  std::vector<std::vector<double>> input_values_;
  std::vector<TrialResult> outputs_;  ///< of the last forward pass; backward may overwrite the tensors
};

/// Makes a trial of an offer of kind layer or head. `smoothing`: a head's label smoothing. Throws the errors
/// of the plugin's constructor and of `declare`.
std::unique_ptr<Trial> make_trial(const Device& device, const Offer& offer, const Options& options,
                                  const TrialSetup& setup, double smoothing = 0.0);
/// Makes a trial of an existing layer that has not declared anything.
std::unique_ptr<Trial> make_trial(const Device& device, std::unique_ptr<Layer> layer,
                                  const TrialSetup& setup);

/// Runs both passes and compares every gradient with numeric differences, away from kinks. `make` makes the
/// trial for a seed. `size` is as in GradientCheck. Throws Error if a rule is broken or no smooth point is
/// found.
GradientReport check_gradients(const std::function<std::unique_ptr<Trial>(std::uint64_t seed)>& make,
                               double size = 1.0);

}  // namespace encore::contract
