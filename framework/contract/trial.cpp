#include "contract/trial.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "memory/device_memory.hpp"
#include "plugin_host/make_offer.hpp"
#include "record/crash_line.hpp"

namespace encore {
namespace {

constexpr double marker = 0.5;  // what parameter gradients hold before backward

/// Numbers per row of a batch that depend on example, position and channel only, not on the row.
std::vector<double> row_values(const OwnedBatch& batch, std::int64_t width, std::uint64_t seed) {
  std::vector<double> values;
  values.reserve(static_cast<std::size_t>(batch.rows() * width));
  for (std::int64_t row = 0; row < batch.rows(); ++row) {
    const auto key = static_cast<std::uint64_t>(batch.example(row) * 100003 + batch.position(row));
    for (const double value : normal_values(width, seed * 1000003 + key)) values.push_back(value);
  }
  return values;
}

class LayerTrial final : public Trial {
 public:
  LayerTrial(const Device& device, const TrialSetup& setup, std::unique_ptr<Layer> layer)
      : Trial(device, setup), layer_(std::move(layer)) {
    allocate();
    output_ = rows(setup_.width, 0);
    output_gradient_ = rows(setup_.width, 2);
    weights_ = output_gradient_.values();
  }

 private:
  void declare(LayerPlan& plan) override { layer_->declare(plan); }
  void run_forward() override {
    const CurrentWork work("forward");
    const Tensor x = input();
    layer_->forward(step(), {&x, 1}, output_);
  }
  void run_backward() override {
    const CurrentWork work("backward");
    const Tensor x = input(), dx = input_gradient();
    layer_->backward(step(), {&x, 1}, output_, output_gradient_, {&dx, 1});
  }
  void poison_output() override { output_.fill(nan); }
  double read_objective() const override {
    const std::vector<double> output = output_.values();
    return std::inner_product(output.begin(), output.end(), weights_.begin(), 0.0);
  }
  std::vector<TrialResult> outputs() const override { return {{"output", output_.values(), setup_.width}}; }
  void hide_before_backward() override {
    if (!plan_.reads_output()) output_.fill(nan);
  }
  void require_unchanged() const override {
    if (output_gradient_.values() != weights_)
      throw Error("backward changes output_gradient, which it may only read");
  }

  std::unique_ptr<Layer> layer_;
  OwnedTensor output_, output_gradient_;
  std::vector<double> weights_;
};

/// Every third row of a sequence has no target.
class HeadTrial final : public Trial {
 public:
  static constexpr std::int64_t classes = 5;
  static constexpr double scale = 0.7;

  HeadTrial(const Device& device, const TrialSetup& setup, std::unique_ptr<Head> head)
      : Trial(device, setup), head_(std::move(head)) {
    allocate();
    const std::int64_t n = batch_.rows();
    targets_ = OwnedTensor(DType::int32, {n});
    losses_ = OwnedTensor(sum_type(setup_.type), {n});
    predictions_ = OwnedTensor(DType::int32, {n});
    for (std::int64_t row = 0; row < n; ++row) {
      const std::int64_t t = batch_.position(row);
      wanted_.push_back(static_cast<double>(t % 3 == 2 ? std::int64_t{no_target}
                                                       : (batch_.example(row) + 2 * t) % classes));
    }
    targets_.set(wanted_);
  }

 private:
  void declare(LayerPlan& plan) override { head_->declare(plan); }
  void run_forward() override {
    const CurrentWork loss("loss");
    head_->loss(step(), input(), targets_, losses_);
    if (setup_.training) return;
    const CurrentWork decode("decode");
    head_->decode(step(), input(), targets_, predictions_);
  }
  void run_backward() override {
    const CurrentWork work("backward");
    head_->backward(step(), input(), targets_, scale, input_gradient());
  }
  void poison_output() override {
    losses_.fill(nan);
    predictions_.fill(-7);
  }
  double read_objective() const override {
    const std::vector<double> losses = losses_.values();
    for (std::size_t row = 0; row < losses.size(); ++row)
      if (wanted_[row] == no_target && losses[row] != 0.0)
        throw Error("row " + std::to_string(row) + " has no target and a loss of " +
                    std::to_string(losses[row]) + " instead of 0");
    return scale * std::accumulate(losses.begin(), losses.end(), 0.0);
  }
  std::vector<TrialResult> outputs() const override {
    std::vector<TrialResult> all{{"losses", losses_.values(), 1}};
    if (setup_.training) return all;
    std::vector<double> predictions = predictions_.values();
    for (std::size_t row = 0; row < predictions.size(); ++row) {
      if (wanted_[row] == no_target)
        predictions[row] = no_target;  // anything is allowed there
      else if (predictions[row] < 0 || predictions[row] >= classes)
        throw Error("decode predicts class " + std::to_string(predictions[row]) + " of " +
                    std::to_string(classes));
    }
    all.push_back({"predictions", std::move(predictions), 1});
    return all;
  }

  std::unique_ptr<Head> head_;
  OwnedTensor targets_, losses_, predictions_;
  std::vector<double> wanted_;
};

}  // namespace

Trial::Trial(const Device& device, const TrialSetup& setup)
    : device_(device), setup_(setup), batch_(setup.lengths, 17, setup.examples), plan_(setup.width) {}

OwnedTensor Trial::rows(std::int64_t width, std::uint64_t purpose) const {
  OwnedTensor tensor(setup_.type, {batch_.rows(), width});
  tensor.set(row_values(batch_, width, setup_.seed * 31 + purpose));
  return tensor;
}

void Trial::allocate() {
  declare(plan_);
  memory_ = std::make_unique<OwnedPlan>(device_, plan_, batch_, setup_.type, setup_.seed);
  input_ = rows(setup_.width, 1);
  input_values_ = input_.values();
  input_gradient_ = OwnedTensor(setup_.type, {batch_.rows(), setup_.width});
}

void Trial::prepare_forward() {
  memory_->poison(false);
  poison_output();
}

void Trial::launch_forward() {
  run_forward();
  device_.fence();
}

void Trial::forward() {
  prepare_forward();
  launch_forward();
  outputs_ = outputs();
  if (input_.values() != input_values_) throw Error("forward changes its input");
}

void Trial::prepare_backward(double held) {
  memory_->poison(true);
  for (OwnedTensor& gradient : memory_->gradients()) gradient.fill(marker);
  input_gradient_.fill(held);
  if (!plan_.reads_input()) input_.fill(nan);
  hide_before_backward();
}

void Trial::launch_backward() {
  run_backward();
  device_.fence();
}

void Trial::backward(double held) {
  prepare_backward(held);
  launch_backward();
  if (plan_.reads_input() && input_.values() != input_values_) throw Error("backward changes its input");
  input_.set(input_values_);
  require_unchanged();
  require_token_rows();
}

void Trial::require_token_rows() const {
  std::vector<std::int32_t> ids(static_cast<std::size_t>(batch_.rows()));
  copy_to_host(device_, batch_.batch().ids, ids.data());
  for (std::size_t i = 0; i < plan_.parameters().size(); ++i) {
    const ParameterSpec& spec = plan_.parameters()[i];
    if (!spec.token_rows) continue;
    const std::vector<double> gradient = memory_->gradients()[i].values();
    const std::int64_t row_size = static_cast<std::int64_t>(gradient.size()) / spec.shape.at(0);
    for (std::size_t k = 0; k < gradient.size(); ++k) {
      const std::int64_t row = static_cast<std::int64_t>(k) / row_size;
      if (gradient[k] != marker && std::find(ids.begin(), ids.end(), row) == ids.end())
        throw Error("backward changes the gradient of row " + std::to_string(row) + " of " + spec.name +
                    ", which has token_rows, in a batch without token " + std::to_string(row));
    }
  }
}

double Trial::objective() const {
  return read_objective();
}

std::vector<CheckedTensor> Trial::tensors() {
  const auto stored_in = [](OwnedTensor& tensor) {
    return [&tensor](const std::vector<double>& values) { tensor.set(values); };
  };
  std::vector<CheckedTensor> all{
      {"input", input_values_, input_gradient_.values(), [this](const std::vector<double>& values) {
         input_.set(values);
         input_values_ = input_.values();
       }}};
  for (std::size_t i = 0; i < plan_.parameters().size(); ++i) {
    OwnedTensor& parameter = memory_->parameters()[i];
    std::vector<double> gradient = memory_->gradients()[i].values();
    for (double& g : gradient) g -= marker;
    all.push_back(
        {plan_.parameters()[i].name, parameter.values(), std::move(gradient), stored_in(parameter)});
  }
  return all;
}

std::vector<TrialResult> Trial::results() const {
  std::vector<TrialResult> all = outputs_;
  if (!setup_.training) return all;
  all.push_back({"input gradient", input_gradient_.values(), setup_.width});
  for (std::size_t i = 0; i < plan_.parameters().size(); ++i)
    all.push_back({"gradient of " + plan_.parameters()[i].name, memory_->gradients()[i].values(), 0});
  return all;
}

std::unique_ptr<Trial> make_trial(const Device& device, const Offer& offer, const Options& options,
                                  const TrialSetup& setup, double smoothing) {
  if (offer.kind == Kind::layer) {
    LayerContext context{.width = setup.width, .max_length = 1, .block = 0, .blocks = 1};
    for (const std::int64_t length : setup.lengths) context.max_length = std::max(context.max_length, length);
    return make_trial(device, make_offer<Kind::layer>(offer, options, context), setup);
  }
  const HeadContext context{.width = setup.width,
                            .classes = HeadTrial::classes,
                            .label_smoothing = smoothing,
                            .labels = {"O", "B-X", "I-X", "B-Y", "I-Y"}};
  return std::make_unique<HeadTrial>(device, setup, make_offer<Kind::head>(offer, options, context));
}

std::unique_ptr<Trial> make_trial(const Device& device, std::unique_ptr<Layer> layer,
                                  const TrialSetup& setup) {
  return std::make_unique<LayerTrial>(device, setup, std::move(layer));
}

GradientReport check_gradients(const std::function<std::unique_ptr<Trial>(std::uint64_t seed)>& make) {
  for (std::uint64_t seed = 1; seed < 40; ++seed) {
    const std::unique_ptr<Trial> trial = make(seed);
    trial->forward();
    trial->backward();
    const GradientReport report = GradientCheck([&] {
                                    trial->forward();
                                    return trial->objective();
                                  }).run(trial->tensors());
    if (!report.near_kink) return report;
  }
  throw Error("no point of the function is far enough from a kink to compare gradients");
}

}  // namespace encore
