// SPDX-License-Identifier: BSD-3-Clause
// Trial: one layer under test, in memory that holds only values that the contract promises. layer_checks.cpp
// makes trials with make_trial(); head_trial.cpp is the same for heads. It may give a layer only what
// encore/layer.hpp promises. Read trial.hpp first.
#include "contract/trial.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <numeric>

#include <encore/relations.hpp>

#include "contract/head_trial.hpp"
#include "contract/suite.hpp"
#include "memory/device_memory.hpp"
#include "plugin_host/make_offer.hpp"
#include "record/crash_line.hpp"

namespace encore::contract {
namespace {

constexpr double marker = 0.5;  // the value of parameter gradients before backward

/// Returns the lengths of another stack, whose rows a layer may read: the same number of sequences, of other
/// lengths.
std::vector<std::int64_t> other_lengths(const std::vector<std::int64_t>& lengths) {
  std::vector<std::int64_t> other;
  for (const std::int64_t length : lengths) other.push_back(length == 0 ? 0 : 1 + 3 * length % 7);
  return other;
}

/// The teacher of a layer with relations: its rows have another width and are compared whole.
struct RelationTeacher {
  static constexpr std::int64_t width = 6;

  RelationTeacher(const HasRelations& layer, std::int64_t rows, DType type, std::uint64_t seed) : of(layer) {
    for (std::size_t i = 0; i < parts.size(); ++i) {
      Part& part = parts[i];
      part = {OwnedTensor(sum_type(type), {rows, width}), OwnedTensor(sum_type(type), {rows, 1, 2}),
              OwnedTensor(sum_type(type), {rows, 1})};
      part.rows.set(normal_values(rows * width, 97 * seed + i));
      taught.parts[i] = {1, 0.5 + static_cast<double>(i), part.rows, part.log_sums};
    }
    taught.scale = 0.75;
  }

  void compare(const Step& step) const {
    const HasRelations::Parts own = of.relation_parts(step);
    for (std::size_t i = 0; i < parts.size(); ++i) {
      if (own[i].width != of.relation_width())
        throw Error("relation_parts gives " + std::to_string(own[i].width) +
                    " columns, and relation_width says " + std::to_string(of.relation_width()));
      kernels::relations_loss(step.device(), step.rows(), own[i], taught.parts[i], parts[i].losses);
    }
  }
  double loss() const {
    double sum = 0.0;
    for (const Part& part : parts)
      for (const double value : part.losses.values()) sum += value;
    return taught.scale * sum;
  }

  struct Part {
    OwnedTensor rows, log_sums, losses;
  };
  const HasRelations& of;
  std::array<Part, 3> parts;
  TaughtAttention taught;
};

class LayerTrial final : public Trial {
 public:
  LayerTrial(const Device& device, const TrialSetup& setup, std::unique_ptr<Layer> layer)
      : Trial(device, setup),
        layer_(std::move(layer)),
        plan_(setup.width),
        other_(other_lengths(setup.lengths), OwnedBatch::default_vocabulary, setup.examples) {
    layer_->declare(plan_);
    BatchSize size = batch_.size();
    size.memory = other_.batch().size;
    memory_ = std::make_unique<OwnedPlan>(device, plan_, size, setup_.type, setup_.seed);
    for (OwnedTensor* tensor : {&inputs_[0], &gradients_[0], &output_, &output_gradient_})
      *tensor = OwnedTensor(setup_.type, {batch_.rows(), setup_.width});
    for (OwnedTensor* tensor : {&inputs_[1], &gradients_[1]})
      *tensor = OwnedTensor(setup_.type, {other_.rows(), setup_.width});
    output_gradient_.set(row_values(rows_in(batch_, Space::tokens), setup_.width, 2));
    weights_ = output_gradient_.values();
    if (const auto* learning = dynamic_cast<const HasRelations*>(layer_.get()); setup_.taught && learning)
      teacher_ = std::make_unique<RelationTeacher>(*learning, batch_.rows(), setup_.type, setup_.seed);
  }

 private:
  const LayerPlan& plan() const override { return plan_; }
  OwnedPlan& memory() override { return *memory_; }
  std::vector<Input> inputs() override {
    std::vector<Input> all = {{"input", rows_in(batch_, Space::tokens), &inputs_[0], &gradients_[0]}};
    if (plan_.reads_memory())
      all.push_back({"memory", rows_in(other_, Space::tokens), &inputs_[1], &gradients_[1]});
    return all;
  }
  Step step(const TaughtAttention* taught = nullptr) const {
    Step::Bound bound = memory_->bound(setup_.training);
    if (plan_.reads_memory()) bound.memory = &other_.batch();
    bound.taught = taught;
    return {device_, batch_.batch(), setup_.training, bound};
  }
  std::size_t input_count() const { return plan_.reads_memory() ? 2 : 1; }

  void run_forward() override {
    const record::CurrentWork work("forward");
    const std::array<Tensor, 2> x = {inputs_[0], inputs_[1]};
    layer_->forward(step(), std::span(x).first(input_count()), output_);
    if (teacher_) teacher_->compare(step());
  }
  void run_backward() override {
    const record::CurrentWork work("backward");
    const std::array<Tensor, 2> x = {inputs_[0], inputs_[1]}, dx = {gradients_[0], gradients_[1]};
    layer_->backward(step(teacher_ ? &teacher_->taught : nullptr), std::span(x).first(input_count()), output_,
                     output_gradient_, std::span(dx).first(input_count()));
  }
  void poison_output() override { output_.fill(nan); }
  double read_objective() const override {
    const std::vector<double> output = output_.values();
    return std::inner_product(output.begin(), output.end(), weights_.begin(),
                              teacher_ ? teacher_->loss() : 0.0);
  }
  std::vector<TrialResult> outputs() const override {
    return {{"output", output_.values(), setup_.width, rows_in(batch_, Space::tokens).first}};
  }
  std::string overrun_outside() override {
    const std::string found = output_.overrun("its output");
    return found.empty() ? output_gradient_.overrun("the gradient of its output") : found;
  }
  void hide_before_backward() override {
    if (!plan_.reads_output()) output_.fill(nan);
  }
  void require_unchanged() const override {
    if (output_gradient_.values() != weights_)
      throw Error("backward changes output_gradient, which it may only read");
  }

  std::unique_ptr<Layer> layer_;
  LayerPlan plan_;
  OwnedBatch other_;
  std::unique_ptr<OwnedPlan> memory_;
  std::array<OwnedTensor, 2> inputs_, gradients_;
  OwnedTensor output_, output_gradient_;
  std::vector<double> weights_;
  std::unique_ptr<RelationTeacher> teacher_;
};

}  // namespace

Trial::Trial(const Device& device, const TrialSetup& setup)
    : device_(device), setup_(setup), batch_(setup.lengths, OwnedBatch::default_vocabulary, setup.examples) {}

std::vector<double> Trial::row_values(const SpaceRows& rows, std::int64_t width,
                                      std::uint64_t purpose) const {
  const std::uint64_t seed = setup_.seed * 31 + purpose;
  std::vector<double> values;
  values.reserve(static_cast<std::size_t>(rows.count() * width));
  for (std::size_t row = 0; row < rows.examples.size(); ++row) {
    const auto key = static_cast<std::uint64_t>(rows.examples[row] * 100003 + rows.positions[row]);
    for (const double value : normal_values(width, seed * 1000003 + key)) values.push_back(value);
  }
  return values;
}

void Trial::fill_inputs() {
  if (!input_values_.empty()) return;
  for (const Input& input : inputs()) {
    input.values->set(row_values(input.rows, setup_.width, 1));
    input_values_.push_back(input.values->values());
  }
}

void Trial::require_inputs(const char* pass) {
  const std::vector<Input> all = inputs();
  for (std::size_t i = 0; i < all.size(); ++i)
    if (all[i].values->values() != input_values_[i])
      throw Error(std::string(pass) + " changes its " + all[i].name);
}

std::vector<std::vector<double>> Trial::parameter_values() {
  std::vector<std::vector<double>> all;
  for (const OwnedTensor& parameter : memory().parameters()) all.push_back(parameter.values());
  return all;
}

void Trial::require_parameters(const char* pass, const std::vector<std::vector<double>>& before) {
  const std::vector<std::vector<double>> after = parameter_values();
  for (std::size_t i = 0; i < after.size(); ++i)
    if (digest_of(after[i]) != digest_of(before[i]))
      throw Error(std::string(pass) + " changes the parameter `" + plan().parameters()[i].name +
                  "`, which only the optimizer may");
}

void Trial::require_guards(const char* pass) {
  std::string found = memory().overrun();
  if (found.empty()) found = overrun_outside();
  for (const Input& input : inputs()) {
    if (found.empty()) found = input.values->overrun("its " + input.name);
    if (found.empty()) found = input.gradient->overrun("the gradient of its " + input.name);
  }
  if (found.empty()) found = batch_.overrun();
  require_within(pass, found);
}

// --- passes ---

void Trial::prepare_forward() {
  fill_inputs();
  memory().poison();
  poison_output();
}

void Trial::launch_forward() {
  run_forward();
  device_.fence();
}

void Trial::forward() {
  prepare_forward();
  const std::vector<std::vector<double>> parameters = parameter_values();
  launch_forward();
  require_parameters("forward", parameters);
  require_guards("forward");
  outputs_ = outputs();
  require_inputs("forward");
}

void Trial::prepare_backward(double held) {
  memory().poison({Lifetime::saved, Lifetime::persistent});
  for (OwnedTensor& gradient : memory().gradients()) gradient.fill(marker);
  for (const Input& input : inputs()) {
    input.gradient->fill(held);
    if (!plan().reads_input()) input.values->fill(nan);
  }
  hide_before_backward();
}

void Trial::launch_backward() {
  run_backward();
  device_.fence();
}

void Trial::backward(double held) {
  prepare_backward(held);
  const std::vector<std::vector<double>> parameters = parameter_values();
  launch_backward();
  require_parameters("backward", parameters);
  require_guards("backward");
  if (plan().reads_input()) require_inputs("backward");
  const std::vector<Input> all = inputs();
  for (std::size_t i = 0; i < all.size(); ++i) all[i].values->set(input_values_[i]);
  require_unchanged();
  require_token_rows();
}

void Trial::require_token_rows() {
  std::vector<std::int32_t> ids(static_cast<std::size_t>(batch_.rows()));
  memory::copy_to_host(device_, batch_.batch().ids, ids.data());
  for (std::size_t i = 0; i < plan().parameters().size(); ++i) {
    const ParameterSpec& spec = plan().parameters()[i];
    if (!spec.token_rows) continue;
    const std::vector<double> gradient = memory().gradients()[i].values();
    const std::int64_t row_size = static_cast<std::int64_t>(gradient.size()) / spec.shape.at(0);
    for (std::size_t k = 0; k < gradient.size(); ++k) {
      const std::int64_t row = static_cast<std::int64_t>(k) / row_size;
      if (gradient[k] != marker && std::find(ids.begin(), ids.end(), row) == ids.end())
        throw Error("backward changes the gradient of row " + std::to_string(row) + " of " + spec.name +
                    ", which has token_rows, in a batch without token " + std::to_string(row));
    }
  }
}

// --- results for the checks ---

double Trial::objective() const {
  return read_objective();
}

double Trial::objective_here() {
  prepare_forward();
  launch_forward();
  return read_objective();
}

std::vector<CheckedTensor> Trial::tensors() {
  std::vector<CheckedTensor> all;
  const std::vector<Input> read = inputs();
  for (std::size_t i = 0; i < read.size(); ++i)
    all.push_back({read[i].name, input_values_[i], read[i].gradient->values(),
                   [this, i, tensor = read[i].values](const std::vector<double>& values) {
                     tensor->set(values);
                     input_values_[i] = tensor->values();
                   }});
  for (std::size_t i = 0; i < plan().parameters().size(); ++i) {
    OwnedTensor& parameter = memory().parameters()[i];
    std::vector<double> gradient = memory().gradients()[i].values();
    for (double& g : gradient) g -= marker;
    all.push_back({plan().parameters()[i].name, parameter.values(), std::move(gradient),
                   [&parameter](const std::vector<double>& values) { parameter.set(values); }});
  }
  return all;
}

std::vector<TrialResult> Trial::results() {
  std::vector<TrialResult> all = outputs_;
  if (!setup_.training) return all;
  for (const Input& input : inputs())
    all.push_back({input.name + " gradient", input.gradient->values(), setup_.width, input.rows.first});
  for (std::size_t i = 0; i < plan().parameters().size(); ++i)
    all.push_back({"gradient of " + plan().parameters()[i].name, memory().gradients()[i].values(), 0});
  return all;
}

std::unique_ptr<Trial> make_trial(const Device& device, const Offer& offer, const Options& options,
                                  const TrialSetup& setup, double smoothing) {
  if (offer.kind == Kind::head) return make_head_trial(device, offer, options, setup, smoothing);
  LayerContext context{.width = setup.width, .max_length = 1, .block = 0, .blocks = 1};
  for (const std::int64_t length : setup.lengths) context.max_length = std::max(context.max_length, length);
  return make_trial(device, plugin_host::make_offer<Kind::layer>(offer, options, context), setup);
}

std::unique_ptr<Trial> make_trial(const Device& device, std::unique_ptr<Layer> layer,
                                  const TrialSetup& setup) {
  return std::make_unique<LayerTrial>(device, setup, std::move(layer));
}

GradientReport check_gradients(const std::function<std::unique_ptr<Trial>(std::uint64_t seed)>& make,
                               double size) {
  for (std::uint64_t seed = 1; seed < 40; ++seed) {
    const std::unique_ptr<Trial> trial = make(seed);
    trial->forward();
    trial->backward();
    const GradientReport report =
        GradientCheck([&] { return trial->objective_here(); }, size).run(trial->tensors());
    if (!report.near_kink) return report;
  }
  throw Error("no point of the function is far enough from a kink to compare gradients");
}

}  // namespace encore::contract
