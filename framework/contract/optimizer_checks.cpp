// The checks of optimizers: what each does to a few parameters that are pulled towards a target.
#include <cmath>
#include <set>

#include "config/check_value.hpp"
#include "contract/suite.hpp"
#include "contract/test_memory.hpp"
#include "memory/parameter_block.hpp"
#include "plugin_host/make_offer.hpp"
#include "record/crash_line.hpp"

namespace encore {
namespace {

/// An optimizer with three parameters, one of them longer than a chunk, pulled towards a target: the gradient
/// of half the squared distance.
class OptimizerTrial {
 public:
  OptimizerTrial(const Device& device, const Offer& offer, DType type, bool scaled = false)
      : device_(device),
        optimizer_(make_offer<Kind::optimizer>(offer, default_options(offer.options), {})),
        block_(device,
               {{"layer.bias", {"bias", {64}, Initializer::zeros, 0.0, false}},
                {"layer.gain", {"gain", {3}, Initializer::ones, 0.0, false}},
                {"layer.weight", {"weight", {90, 100}, Initializer::normal, 1.0, true}}},
               type, 1),
        scale_(DType::float64, {1}),
        scaled_(scaled) {
    block_.make_states(optimizer_->states());
    scale_.fill(0.5);
    std::uint64_t seed = 0;
    for (const ParameterSlice& slice : block_.slices()) {
      const OwnedTensor start = owned(slice, ++seed);
      kernels::copy(device_, start, ParameterBlock::slice(block_.values(), slice));
      targets_.push_back(owned(slice, 50 + seed));
    }
  }

  std::vector<std::string> states() const { return optimizer_->states(); }

  void prepare(double factor = 1.0) {
    for (std::size_t i = 0; i < block_.slices().size(); ++i) {
      const ParameterSlice& slice = block_.slices()[i];
      std::vector<double> gradient = read(slice, block_.values());
      const std::vector<double> target = targets_[i].values();
      for (std::size_t k = 0; k < gradient.size(); ++k) gradient[k] = factor * (gradient[k] - target[k]);
      OwnedTensor tensor(block_.dtype(), slice.spec.shape);
      tensor.set(gradient);
      kernels::copy(device_, tensor, ParameterBlock::slice(block_.gradients(), slice));
    }
    device_.fence();
  }
  void launch() {
    const CurrentWork work("update");
    optimizer_->update(device_,
                       block_.blocks(scaled_ ? static_cast<const double*>(scale_.tensor().data) : nullptr),
                       0.01, ++step_);
    device_.fence();
  }
  void steps(int count, double factor = 1.0) {
    for (int i = 0; i < count; ++i) {
      prepare(factor);
      launch();
    }
  }
  double distance() const {
    double squares = 0.0;
    for (std::size_t i = 0; i < block_.slices().size(); ++i) {
      const std::vector<double> values = read(block_.slices()[i], block_.values()),
                                target = targets_[i].values();
      for (std::size_t k = 0; k < values.size(); ++k)
        squares += (values[k] - target[k]) * (values[k] - target[k]);
    }
    return squares;
  }
  /// Values, then each state, of all parameters.
  std::vector<double> everything() const {
    std::vector<double> all;
    const auto append = [&](Tensor block) {
      for (const ParameterSlice& slice : block_.slices())
        for (const double value : read(slice, block)) all.push_back(value);
    };
    append(block_.values());
    for (std::size_t i = 0; i < optimizer_->states().size(); ++i) append(block_.state(i));
    return all;
  }

 private:
  OwnedTensor owned(const ParameterSlice& slice, std::uint64_t seed) const {
    OwnedTensor tensor(block_.dtype(), slice.spec.shape);
    tensor.set(normal_values(slice.size, seed));
    return tensor;
  }
  std::vector<double> read(const ParameterSlice& slice, Tensor block) const {
    const OwnedTensor copy(block_.dtype(), slice.spec.shape);
    kernels::copy(device_, ParameterBlock::slice(block, slice), copy);
    device_.fence();
    return copy.values();
  }

  const Device& device_;
  std::unique_ptr<Optimizer> optimizer_;
  ParameterBlock block_;
  OwnedTensor scale_;
  bool scaled_;
  std::vector<OwnedTensor> targets_;
  std::int64_t step_ = 0;
};

/// Of an optimizer with the option `learning_rate` it must be that option.
std::string check_learning_rate(const Offer& offer) {
  const auto rate_with = [&](const Options& options) {
    const double rate = make_offer<Kind::optimizer>(offer, options, {})->learning_rate();
    require(std::isfinite(rate) && rate > 0.0,
            "learning_rate() is " + std::to_string(rate) + "; it must be finite and above 0");
    return rate;
  };
  Options options = default_options(offer.options);
  const double rate = rate_with(options);
  const Option* option = offer.options.find("learning_rate");
  if (option == nullptr) return "learning_rate() is " + std::to_string(rate) + ", without an option";
  for (const double other : {0.5 * rate, 0.0123})
    if (!check_range(OptionValue(other), *option)) {
      options.set(option->name, other);
      require(rate_with(options) == other,
              "learning_rate() is not the option learning_rate = " + std::to_string(other));
    }
  return "learning_rate() is the option";
}

std::string check_states(const Device& device, const Offer& offer) {
  const OptimizerTrial trial(device, offer, DType::float32);
  const std::vector<std::string> names = trial.states();
  for (const std::string& name : names) require(!name.empty(), "a state has no name");
  require(std::set<std::string>(names.begin(), names.end()).size() == names.size(),
          "two states have one name");
  return std::to_string(names.size()) + " states with names of their own";
}

std::string check_descent(const Device& device, const Offer& offer) {
  OptimizerTrial trial(device, offer, DType::float64);
  const double before = trial.distance();
  trial.steps(50);
  const double after = trial.distance();
  require(std::isfinite(after) && after < before, "50 steps on half a squared distance lead from " +
                                                      std::to_string(before) + " to " +
                                                      std::to_string(after) + ", not down");
  return "50 steps on a quadratic go from " + std::to_string(before) + " down to " + std::to_string(after);
}

std::string check_gradient_scale(const Device& device, const Offer& offer) {
  OptimizerTrial scaled(device, offer, DType::float64, true), plain(device, offer, DType::float64);
  scaled.steps(3);
  plain.steps(3, 0.5);
  require(digest_of(scaled.everything()) == digest_of(plain.everything()),
          "gradient_scale = 0.5 does not equal gradients of half the size; clipping would have no effect");
  return "the factor of clipping is applied to each gradient";
}

std::string check_same_bits(const Device& device, const Offer& offer) {
  OptimizerTrial one(device, offer, DType::float32), two(device, offer, DType::float32);
  one.steps(5);
  two.steps(5);
  require(digest_of(one.everything()) == digest_of(two.everything()), "two equal runs of five steps differ");
  return "two objects compute equal bits";
}

std::string check_optimizer_precision(const Device& device, const Offer& offer) {
  OptimizerTrial narrow(device, offer, DType::float32), wide(device, offer, DType::float64);
  narrow.steps(5);
  wide.steps(5);
  const std::vector<double> a = narrow.everything(), b = wide.everything();
  for (std::size_t i = 0; i < a.size(); ++i)
    require(std::abs(a[i] - b[i]) <= 1e-4 * (1.0 + std::abs(b[i])),
            "after five steps a value is " + std::to_string(a[i]) + " in float32 and " +
                std::to_string(b[i]) + " in float64");
  return "float32 agrees with float64 over five steps";
}

std::string check_optimizer_launches(const Device& device, const Offer& offer) {
  OptimizerTrial trial(device, offer, DType::float32);
  trial.steps(1);
  trial.prepare();
  const KokkosWatch watch;
  trial.launch();
  require(watch.allocations().empty(), "update allocates \"" +
                                           (watch.allocations().empty() ? "" : watch.allocations().front()) +
                                           "\"; ask Device::workspace, or for a state");
  require_labels(watch);
  return "a second step allocates no Kokkos memory, every kernel has a label";
}

}  // namespace

std::vector<Check> optimizer_checks(const Device& device, const Offer& offer) {
  return {{"learning rate", [&] { return check_learning_rate(offer); }},
          {"states", [&] { return check_states(device, offer); }},
          {"descent", [&] { return check_descent(device, offer); }},
          {"gradient scale", [&] { return check_gradient_scale(device, offer); }},
          {"same seed", [&] { return check_same_bits(device, offer); }},
          {"precision", [&] { return check_optimizer_precision(device, offer); }},
          {"rows without a gradient", [&] { return check_token_rows(device, offer); }},
          {"allocation and labels", [&] { return check_optimizer_launches(device, offer); }}};
}

std::map<std::string, std::string> optimizer_digests(const Device& device, const Offer& offer) {
  std::map<std::string, std::string> all;
  for (const DType type : {DType::float32, DType::float64}) {
    OptimizerTrial trial(device, offer, type);
    trial.steps(5);
    all[std::string(name_of(type)) + " values and states"] = digest_of(trial.everything());
  }
  return all;
}

}  // namespace encore
