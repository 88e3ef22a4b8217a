// SPDX-License-Identifier: BSD-3-Clause
// Checks how an optimizer uses the arguments of an update other than gradients: the number of the step, the
// rate of the schedule, and for each parameter its factor on the rate and whether it decays.
// optimizer_checks.cpp calls it; read suite.hpp and optimizer_trial.hpp first. Plugins of other authors must
// pass them, so a check may demand only what encore/optimizer.hpp promises.
#include <array>
#include <cmath>
#include <optional>

#include "config/check_value.hpp"
#include "contract/optimizer_trial.hpp"
#include "contract/suite.hpp"

namespace encore::contract {
namespace {

constexpr int first_steps = 3, next_steps = 2;
constexpr double other_rate = 0.003;

std::string digest(const OptimizerTrial& trial) {
  return digest_of(trial.everything());
}

void require_resumed(const OptimizerTrial& whole, const OptimizerTrial& resumed) {
  require(digest(whole) == digest(resumed), "a new object that gets the values and states of " +
                                                std::to_string(first_steps) +
                                                " steps continues with other bits than the object that made "
                                                "them; data that update needs of earlier "
                                                "steps belong into a state, and their number is `step`");
}

/// Returns the defaults, then variants of each single option, without those that the optimizer refuses.
std::vector<OptionsVariant> usable_variants(const Device& device, const Offer& offer) {
  std::vector<OptionsVariant> usable;
  for (OptionsVariant& variant : option_variants(offer.options)) try {
      const OptimizerTrial trial(device, offer, variant.options);
      usable.push_back(std::move(variant));
    } catch (const OptionError&) {  // an invalid combination; the defaults are valid
    }
  return usable;
}

/// Checks that the factor of a parameter on the learning rate has the effect of a rate multiplied by it.
void check_rate_factors(const Device& device, const Offer& offer) {
  const Options options = plugin_host::default_options(offer.options);
  OptimizerTrial halved(device, offer, options, {.learning_rates = {0.5F, 0.5F, 0.5F}});
  OptimizerTrial plain(device, offer, options), slower(device, offer, options);
  halved.steps(first_steps);
  plain.steps(first_steps);
  slower.steps(first_steps, 1.0, 0.5 * OptimizerTrial::usual_rate);
  const std::vector<double> a = halved.everything(), b = slower.everything();
  for (std::size_t i = 0; i < a.size(); ++i)
    require(std::abs(a[i] - b[i]) <= 1e-9 * (1.0 + std::abs(b[i])),
            "Segment::learning_rate = 0.5 does not equal half the learning rate; multiply the rate by it");
  for (std::size_t i = 0; i < OptimizerTrial::parameters; ++i) {
    OptimizerSetup setup;
    setup.learning_rates[i] = 0.5F;
    OptimizerTrial trial(device, offer, options, setup);
    trial.steps(first_steps);
    require(trial.values_of(i) != plain.values_of(i), "Segment::learning_rate of parameter " +
                                                          std::to_string(i) +
                                                          " has no effect on it; read that of the "
                                                          "chunk's segment");
  }
}

/// Returns the options with this weight decay; nothing if the optimizer does not take it.
std::optional<Options> with_decay(const Offer& offer, double decay) {
  const Option* option = offer.options.find("weight_decay");
  if (option == nullptr || option->type != OptionType::number ||
      config::check_range(OptionValue(decay), *option))
    return {};
  Options options = plugin_host::default_options(offer.options);
  options.set(option->name, decay);
  return options;
}

/// Checks the option `weight_decay`, if the optimizer has it: it must change the parameters with
/// Segment::decay, and no others.
std::string check_decay(const Device& device, const Offer& offer) {
  constexpr std::array<bool, OptimizerTrial::parameters> nowhere = {false, false, false};
  const std::optional<Options> decaying = with_decay(offer, 0.1), still = with_decay(offer, 0.0);
  if (!decaying) return "it has no weight_decay";
  OptimizerTrial spared(device, offer, *decaying, {.decay = nowhere});
  spared.steps(first_steps);
  if (still) {
    OptimizerTrial plain(device, offer, *still, {.decay = nowhere});
    plain.steps(first_steps);
    require(digest(spared) == digest(plain),
            "weight_decay changes parameters whose Segment::decay is 0; multiply it by that number");
  }
  for (std::size_t i = 0; i < OptimizerTrial::parameters; ++i) {
    OptimizerSetup setup{.decay = nowhere};
    setup.decay[i] = true;
    OptimizerTrial trial(device, offer, *decaying, setup);
    trial.steps(first_steps);
    require(trial.values_of(i) != spared.values_of(i),
            "weight_decay = 0.1 has no effect on parameter " + std::to_string(i) +
                ", whose Segment::decay is 1; read that of the chunk's segment");
  }
  return "weight_decay reaches those with Segment::decay only";
}

}  // namespace

std::string check_resuming(const Device& device, const Offer& offer) {
  for (const OptionsVariant& variant : usable_variants(device, offer)) {
    const OptimizerSetup setup{.type = DType::float32};
    OptimizerTrial whole(device, offer, variant.options, setup);
    OptimizerTrial resumed(device, offer, variant.options, setup);
    whole.steps(first_steps);
    resumed.resume(whole);
    whole.steps(next_steps);
    resumed.steps(next_steps);
    require_resumed(whole, resumed);
  }
  return "a new object continues from values and states with equal bits";
}

std::string check_changing_rate(const Device& device, const Offer& offer) {
  const Options options = plugin_host::default_options(offer.options);
  OptimizerTrial changing(device, offer, options), steady(device, offer, options),
      resumed(device, offer, options);
  changing.steps(first_steps);
  steady.resume(changing);
  resumed.resume(changing);
  steady.steps(1);
  changing.steps(1, 1.0, other_rate);
  resumed.steps(1, 1.0, other_rate);
  require(digest(changing) != digest(steady),
          "after steps with a learning rate of 0.01 a step with 0.003 still uses 0.01; use the rate "
          "that update gets, which the schedule changes");
  require_resumed(changing, resumed);
  return "each step uses the learning rate that it gets";
}

std::string check_segments(const Device& device, const Offer& offer) {
  check_rate_factors(device, offer);
  return "each parameter has its factor on the learning rate; " + check_decay(device, offer);
}

}  // namespace encore::contract
