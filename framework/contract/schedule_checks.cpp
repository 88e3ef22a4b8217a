// SPDX-License-Identifier: BSD-3-Clause
// The checks of schedules (schedule_checks, called by suite.cpp): the factors that a schedule returns for the
// steps of runs of several lengths must be finite and plausible. Plugins of other authors must pass them, so
// a check may demand only what encore/schedule.hpp promises. Read suite.hpp first.
#include <algorithm>
#include <cmath>

#include "contract/suite.hpp"
#include "plugin_host/make_offer.hpp"

namespace encore::contract {
namespace {

/// The largest accepted factor. `Optimizer::learning_rate` is the rate at factor 1, so factors above 1 are
/// rare; a hundred means a wrong unit, such as the step itself.
constexpr double largest_factor = 100.0;
/// The largest number of steps of a run in which every step is checked. In a longer run the ends and samples
/// between them are checked.
constexpr std::int64_t every_step_up_to = 20000;
constexpr std::int64_t step_between_samples = 9973;  // a prime, so that the samples meet every period

const std::vector<std::int64_t> run_lengths = {1, 2, 3, 1000, every_step_up_to, 10000000};
const std::vector<std::int64_t> model_widths = {8, 384, 4096};

/// Returns the steps at which the schedule of a run is checked, ascending.
std::vector<std::int64_t> asked_steps(std::int64_t total) {
  std::vector<std::int64_t> steps;
  for (std::int64_t step = 1; step <= total;) {
    steps.push_back(step);
    const bool near_an_end = total <= every_step_up_to || step < 1000 || step > total - 1000;
    step += near_an_end ? 1 : std::min(step_between_samples, total - 1000 + 1 - step);
  }
  return steps;
}

double factor_at(const Schedule& schedule, std::int64_t step, const std::string& where) try {
  return schedule.factor(step);
} catch (const std::exception& error) {
  throw Error("factor throws" + where + ": " + error.what() +
              "; refuse invalid options in the constructor, before the run starts");
}

/// Checks the factors of one run. Returns how many were computed.
std::size_t check_run(const Schedule& schedule, std::int64_t total, const std::string& variant) {
  const auto at = [&](std::int64_t step) {
    return " at step " + std::to_string(step) + " of " + std::to_string(total) + " with " + variant;
  };
  const std::vector<std::int64_t> steps = asked_steps(total);
  std::vector<double> factors;
  for (const std::int64_t step : steps) {
    const double factor = factor_at(schedule, step, at(step));
    require(std::isfinite(factor) && factor >= 0.0, "the factor is " + std::to_string(factor) + at(step));
    require(factor <= largest_factor,
            "the factor is " + std::to_string(factor) + at(step) +
                "; it multiplies the option learning_rate, which is the rate at factor 1, so it must be at "
                "most " +
                std::to_string(static_cast<int>(largest_factor)));
    factors.push_back(factor);
  }
  // A run of one or two steps may begin and end at 0.
  require(total < 1000 || std::ranges::any_of(factors, [](double factor) { return factor > 0.0; }),
          "the factor is 0 at every step of a run of " + std::to_string(total) + " steps with " + variant +
              ", so nothing would be learned");
  for (std::size_t i = steps.size(); i-- > 0;)
    require(factor_at(schedule, steps[i], at(steps[i])) == factors[i],
            "called again, it returns another factor" + at(steps[i]) +
                "; a schedule must be a pure function of the step");
  return steps.size();
}

std::string check_schedule(const Offer& offer) {
  std::size_t asked = 0;
  for (const OptionsVariant& variant : option_variants(offer.options))
    for (const std::int64_t width : model_widths)
      for (const std::int64_t total : run_lengths) {
        std::unique_ptr<Schedule> schedule;
        try {
          schedule = plugin_host::make_offer<Kind::schedule>(offer, variant.options, {total, width});
        } catch (const OptionError&) {  // an invalid combination
          continue;
        }
        asked += check_run(*schedule, total, variant.name);
      }
  require(asked > 0, "it refuses its default options for runs of every length");
  return std::to_string(asked) + " factors of runs of 1 to " + std::to_string(run_lengths.back()) +
         " steps: finite, from 0 to " + std::to_string(static_cast<int>(largest_factor)) +
         ", above 0 somewhere, a pure function of the step";
}

}  // namespace

std::vector<Check> schedule_checks(const Offer& offer) {
  return {{"factors", [&] { return check_schedule(offer); }}};
}

}  // namespace encore::contract
