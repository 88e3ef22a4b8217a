// SPDX-License-Identifier: BSD-3-Clause
// The list of checks for optimizers (optimizer_checks, called by suite.cpp): a few parameters are pulled
// towards a target, and the checks look at what the updates do to them. optimizer_step_checks.cpp and
// token_row_checks.cpp have more. Plugins of other authors must pass them, so a check may demand only what
// encore/optimizer.hpp promises. Read optimizer_trial.hpp first.
#include <cmath>
#include <set>

#include "config/check_value.hpp"
#include "contract/optimizer_trial.hpp"
#include "contract/suite.hpp"
#include "plugin_host/make_offer.hpp"

namespace encore::contract {
namespace {

OptimizerTrial trial_of(const Device& device, const Offer& offer, const OptimizerSetup& setup) {
  return {device, offer, plugin_host::default_options(offer.options), setup};
}

/// Checks that Optimizer::learning_rate is the option `learning_rate`, if the optimizer has it.
std::string check_learning_rate(const Offer& offer) {
  const auto rate_with = [&](const Options& options) {
    const double rate = plugin_host::make_offer<Kind::optimizer>(offer, options, {})->learning_rate();
    require(std::isfinite(rate) && rate > 0.0,
            "learning_rate() is " + std::to_string(rate) + "; it must be finite and above 0");
    return rate;
  };
  Options options = plugin_host::default_options(offer.options);
  const double rate = rate_with(options);
  const Option* option = offer.options.find("learning_rate");
  if (option == nullptr) return "learning_rate() is " + std::to_string(rate) + ", without an option";
  for (const double other : {0.5 * rate, 0.0123})
    if (!config::check_range(OptionValue(other), *option)) {
      options.set(option->name, other);
      require(rate_with(options) == other,
              "learning_rate() is not the option learning_rate = " + std::to_string(other));
    }
  return "learning_rate() is the option";
}

std::string check_states(const Device& device, const Offer& offer) {
  const OptimizerTrial trial = trial_of(device, offer, {.type = DType::float32});
  const std::vector<std::string> names = trial.states();
  for (const std::string& name : names) require_word(name, "a state");
  require(std::set<std::string>(names.begin(), names.end()).size() == names.size(),
          "two states have one name");
  return std::to_string(names.size()) + " states with names of their own";
}

/// Checks that an update leaves elements outside of all chunks unchanged: they belong to a frozen parameter,
/// or to another rank.
std::string check_chunks(const Device& device, const Offer& offer) {
  for (const DType type : {DType::float32, DType::float64}) {
    OptimizerTrial trial = trial_of(device, offer, {.type = type});
    trial.steps(2);
    trial.require_guards();
  }
  return "an update writes to its chunks only";
}

std::string check_descent(const Device& device, const Offer& offer) {
  OptimizerTrial trial = trial_of(device, offer, {});
  const double before = trial.distance();
  trial.steps(50);
  const double after = trial.distance();
  require(std::isfinite(after) && after < before, "50 steps on half a squared distance lead from " +
                                                      std::to_string(before) + " to " +
                                                      std::to_string(after) + ", not down");
  return "50 steps on a quadratic go from " + std::to_string(before) + " down to " + std::to_string(after);
}

std::string check_gradient_scale(const Device& device, const Offer& offer) {
  OptimizerTrial scaled = trial_of(device, offer, {.scaled = true}), plain = trial_of(device, offer, {});
  scaled.steps(3);
  plain.steps(3, 0.5);
  require(digest_of(scaled.everything()) == digest_of(plain.everything()),
          "gradient_scale = 0.5 does not equal gradients of half the size; clipping would have no effect");
  return "the factor of clipping is applied to each gradient";
}

std::string check_same_bits(const Device& device, const Offer& offer) {
  OptimizerTrial one = trial_of(device, offer, {.type = DType::float32}),
                 two = trial_of(device, offer, {.type = DType::float32});
  one.steps(5);
  two.steps(5);
  require(digest_of(one.everything()) == digest_of(two.everything()), "two equal runs of five steps differ");
  return "two objects compute equal bits";
}

/// Returns the digest of values and states after some steps with a variant of the options; empty if the
/// optimizer refuses them.
std::string digest_with(const Device& device, const Offer& offer, const Options& options, int steps) try {
  OptimizerTrial trial(device, offer, options);
  trial.steps(steps);
  return digest_of(trial.everything());
} catch (const OptionError&) {  // an invalid combination
  return "";
}

/// Checks that another value of a number option changes the results: that beta2 is read, for example, and not
/// beta1 in its place. Flags and whole numbers may have an effect only later. The learning rate has its own
/// check, because it is an argument of update.
std::string check_optimizer_options(const Device& device, const Offer& offer) {
  constexpr int steps = 60;
  const std::string usual = digest_with(device, offer, plugin_host::default_options(offer.options), steps);
  std::string compared;
  for (const OptionsVariant& variant : option_variants(offer.options)) {
    const std::string name = variant.name.substr(0, variant.name.find(" = "));
    const Option* option = offer.options.find(name);
    if (option == nullptr || option->type != OptionType::number || name == "learning_rate") continue;
    const std::string digest = digest_with(device, offer, variant.options, steps);
    if (digest.empty()) continue;
    require(digest != usual, "with " + variant.name + ", " + std::to_string(steps) +
                                 " steps compute the same bits as with the default; does the "
                                 "constructor read this option, and update use it?");
    compared += (compared.empty() ? "" : ", ") + name;
  }
  const std::string formula =
      "the formula is not compared; a test of your own can compare the expected values";
  if (compared.empty()) throw NotChecked("it has no number with two bounds to change; " + formula);
  return "another value changes the update: " + compared + "; " + formula;
}

std::string check_optimizer_precision(const Device& device, const Offer& offer) {
  OptimizerTrial narrow = trial_of(device, offer, {.type = DType::float32}),
                 wide = trial_of(device, offer, {});
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
  OptimizerTrial trial = trial_of(device, offer, {.type = DType::float32});
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
          {"chunks", [&] { return check_chunks(device, offer); }},
          {"descent", [&] { return check_descent(device, offer); }},
          {"gradient scale", [&] { return check_gradient_scale(device, offer); }},
          {"same seed", [&] { return check_same_bits(device, offer); }},
          {"precision", [&] { return check_optimizer_precision(device, offer); }},
          {"resuming", [&] { return check_resuming(device, offer); }},
          {"changing rate", [&] { return check_changing_rate(device, offer); }},
          {"effect of options", [&] { return check_optimizer_options(device, offer); }},
          {"segments", [&] { return check_segments(device, offer); }},
          {"rows without a gradient", [&] { return check_token_rows(device, offer); }},
          {"allocation and labels", [&] { return check_optimizer_launches(device, offer); }}};
}

std::map<std::string, std::string> optimizer_digests(const Device& device, const Offer& offer) {
  std::map<std::string, std::string> all;
  for (const DType type : {DType::float32, DType::float64}) {
    OptimizerTrial trial = trial_of(device, offer, {.type = type});
    trial.steps(5);
    all[std::string(name_of(type)) + " values and states"] = digest_of(trial.everything());
  }
  return all;
}

}  // namespace encore::contract
