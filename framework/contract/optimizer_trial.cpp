// SPDX-License-Identifier: BSD-3-Clause
// OptimizerTrial: an optimizer with parameters for the checks of optimizers. Their sizes leave gaps after
// each parameter, and frozen parameters lie around them, so that a write outside is found.
// optimizer_checks.cpp and its two other files use it. Read optimizer_trial.hpp first.
#include "contract/optimizer_trial.hpp"

#include "contract/suite.hpp"
#include "plugin_host/make_offer.hpp"
#include "record/crash_line.hpp"

namespace encore::contract {
namespace {

/// Returns the parameters in the order of their paths: the trained ones between two that are frozen. The
/// matrix has several chunks.
std::vector<memory::NamedParameter> parameters_of(const OptimizerSetup& setup) {
  const auto trained = [&](std::size_t i, const char* name, std::vector<std::int64_t> shape) {
    return memory::NamedParameter{.path = std::string("layer.") + name,
                                  .spec = {.name = name, .shape = std::move(shape), .decay = setup.decay[i]},
                                  .learning_rate = setup.learning_rates[i]};
  };
  const auto frozen = [](const char* name) {
    return memory::NamedParameter{.path = name, .spec = {.name = name, .shape = {16}}, .frozen = true};
  };
  return {frozen("before"), trained(0, "bias", {63}), trained(1, "gain", {3}),
          trained(2, "weight", {90, 101}), frozen("rear")};
}

}  // namespace

OptimizerTrial::OptimizerTrial(const Device& device, const Offer& offer, const Options& options,
                               const OptimizerSetup& setup)
    : device_(device),
      optimizer_(plugin_host::make_offer<Kind::optimizer>(offer, options, {})),
      block_(device, parameters_of(setup), setup.type, 1),
      scale_(DType::float64, {1}),
      scaled_(setup.scaled) {
  block_.make_states(optimizer_->states());
  scale_.fill(0.5);
  for (std::size_t i = 0; i < parameters; ++i) {
    const memory::ParameterSlice& slice = trained(i);
    OwnedTensor start(block_.dtype(), slice.spec.shape), target(block_.dtype(), slice.spec.shape);
    start.set(normal_values(slice.size, i + 1));
    target.set(normal_values(slice.size, 51 + i));
    kernels::copy(device_, start, memory::ParameterBlock::slice(block_.values(), slice));
    targets_.push_back(target.values());
  }
  device_.fence();
  write_guards();
}

const memory::ParameterSlice& OptimizerTrial::trained(std::size_t parameter) const {
  return block_.slices()[1 + parameter];
}

// --- steps ---

void OptimizerTrial::prepare(double factor) {
  for (std::size_t i = 0; i < parameters; ++i) {
    std::vector<double> gradient = values_of(i);
    for (std::size_t k = 0; k < gradient.size(); ++k) gradient[k] = factor * (gradient[k] - targets_[i][k]);
    OwnedTensor tensor(block_.dtype(), trained(i).spec.shape);
    tensor.set(gradient);
    kernels::copy(device_, tensor, memory::ParameterBlock::slice(block_.gradients(), trained(i)));
    device_.fence();
  }
}

void OptimizerTrial::launch(double learning_rate) {
  const record::CurrentWork work("update");
  optimizer_->update(device_,
                     block_.blocks(scaled_ ? static_cast<const double*>(scale_.tensor().data) : nullptr),
                     learning_rate, ++step_);
  device_.fence();
}

void OptimizerTrial::steps(int count, double factor, double learning_rate) {
  for (int i = 0; i < count; ++i) {
    prepare(factor);
    launch(learning_rate);
  }
}

void OptimizerTrial::resume(const OptimizerTrial& other) {
  const std::vector<NamedBlock> from = other.all_blocks(), to = all_blocks();
  for (std::size_t i = 0; i < to.size(); ++i) kernels::copy(device_, from[i].block, to[i].block);
  device_.fence();
  block_.states_changed();
  step_ = other.step_;
}

// --- elements outside of chunks ---

std::vector<OptimizerTrial::NamedBlock> OptimizerTrial::all_blocks() const {
  std::vector<NamedBlock> all = {{"the values", block_.values(), 0.375},
                                 {"the gradients", block_.gradients(), 0.125}};
  for (std::size_t i = 0; i < block_.state_names().size(); ++i)
    all.push_back({"state \"" + block_.state_names()[i] + "\"", block_.state(i), 0.625});
  return all;
}

bool OptimizerTrial::is_guard(std::int64_t element) const {
  for (std::size_t i = 0; i < parameters; ++i)
    if (element >= trained(i).begin && element < trained(i).begin + trained(i).size) return false;
  return true;
}

void OptimizerTrial::write_guards() {
  for (const NamedBlock& block : all_blocks()) {
    std::vector<double> values = read(block.block);
    for (std::size_t k = 0; k < values.size(); ++k)
      if (is_guard(static_cast<std::int64_t>(k))) values[k] = block.guard;
    OwnedTensor tensor(block_.dtype(), {block.block.size()});
    tensor.set(values);
    kernels::copy(device_, tensor, block.block);
    device_.fence();
  }
}

void OptimizerTrial::require_guards() const {
  for (const NamedBlock& block : all_blocks()) {
    const std::vector<double> values = read(block.block);
    for (std::size_t k = 0; k < values.size(); ++k) {
      const auto element = static_cast<std::int64_t>(k);
      if (values[k] == block.guard || !is_guard(element)) continue;
      const memory::ParameterSlice* slice = &block_.slices().front();
      for (const memory::ParameterSlice& other : block_.slices())
        if (other.begin <= element) slice = &other;
      throw Error("update writes to element " + std::to_string(element) + " of " + block.name +
                  ", which belongs to no chunk (" +
                  (element < slice->begin + slice->size ? "of the frozen parameter \""
                                                        : "behind the end of parameter \"") +
                  slice->path + "\")");
    }
  }
}

// --- results for the checks ---

std::vector<double> OptimizerTrial::read(Tensor tensor) const {
  const OwnedTensor copy(tensor.dtype, {tensor.size()});
  kernels::copy(device_, tensor.reshaped({tensor.size()}), copy);
  device_.fence();
  return copy.values();
}

std::vector<double> OptimizerTrial::values_of(std::size_t parameter) const {
  return read(memory::ParameterBlock::slice(block_.values(), trained(parameter)));
}

double OptimizerTrial::distance() const {
  double squares = 0.0;
  for (std::size_t i = 0; i < parameters; ++i) {
    const std::vector<double> values = values_of(i);
    for (std::size_t k = 0; k < values.size(); ++k)
      squares += (values[k] - targets_[i][k]) * (values[k] - targets_[i][k]);
  }
  return squares;
}

std::vector<double> OptimizerTrial::everything() const {
  std::vector<double> all;
  for (const NamedBlock& block : all_blocks()) {
    if (block.block.data == block_.gradients().data) continue;
    for (std::size_t i = 0; i < parameters; ++i)
      for (const double value : read(memory::ParameterBlock::slice(block.block, trained(i))))
        all.push_back(value);
  }
  return all;
}

}  // namespace encore::contract
