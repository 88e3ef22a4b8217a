// SPDX-License-Identifier: BSD-3-Clause
// Schedule "wsd", warm-up, stable, decay (Hu et al. 2024, MiniCPM; Hägele et al. 2024): the factor on the
// learning rate rises over warmup_steps, is then 1, and falls over the last decay_share of the steps to
// `floor`, which it reaches one step after the last. Until the decay begins, the rates do not depend on the
// length of the run, unless warmup_ratio is given. The trainer calls factor() before each update. Equal steps
// must give equal factors, because a resumed run computes them again.
#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>

#include <encore/plugin.hpp>

#include "warmup.hpp"

namespace encore_wsd_schedule {

using namespace encore;

class WarmupStableDecay final : public Schedule {
 public:
  static constexpr const char* summary =
      "the learning rate rises linearly over warmup_steps, then is constant, and falls towards floor over "
      "the last decay_share of the steps (Hu et al. 2024)";
  static Schema options() {
    Schema schema;
    schema.integer(
        "warmup_steps", 200,
        {.help = "number of steps in which the learning rate rises linearly", .unit = "steps", .min = 0});
    return encore_warmup::add_ratio(schema)
        .number("decay_share", 0.2,
                {.help = "share of all steps, at the end, in which the learning rate falls",
                 .min = 0.0,
                 .max = 1.0})
        .choice("decay", "sqrt", {"sqrt", "linear", "cosine"},
                {.help = "shape of the fall; sqrt: 1 - sqrt(s), where s is the finished share of the fall, "
                         "so it is steep at first"})
        .number("floor", 0.0,
                {.help = "the learning rate that the fall would reach one step after the last, divided by "
                         "the highest learning rate",
                 .min = 0.0,
                 .max = 1.0});
  }

  WarmupStableDecay(const Options& options, const ScheduleContext& context)
      : warmup_steps_(static_cast<double>(encore_warmup::steps(options, context))),
        decay_steps_(std::round(options.number("decay_share") * static_cast<double>(context.total_steps))),
        stable_until_(static_cast<double>(context.total_steps) - decay_steps_),
        decay_(options.text("decay")),
        floor_(options.number("floor")) {}

  /// Returns the smaller of the rise and the fall, also if the warm-up reaches into the decay.
  double factor(std::int64_t step) const override {
    const double up = static_cast<double>(step) / std::max(1.0, warmup_steps_);
    const double into_decay = static_cast<double>(step - 1) - stable_until_;
    const double down =
        into_decay <= 0.0 ? 1.0 : falling(std::min(1.0, into_decay / std::max(1.0, decay_steps_)));
    return std::min({1.0, up, down});
  }

 private:
  /// Returns the factor at `share` of the decay: 1 where share is 0, the floor where it is 1.
  double falling(double share) const {
    double height = 1.0 - share;
    if (decay_ == "sqrt") height = 1.0 - std::sqrt(share);
    if (decay_ == "cosine") height = 0.5 * (1.0 + std::cos(std::numbers::pi * share));
    return floor_ + (1.0 - floor_) * height;
  }

  double warmup_steps_;
  double decay_steps_;
  double stable_until_;  ///< the last step before the decay, whose first step still has the factor 1
  std::string decay_;
  double floor_;
};

}  // namespace encore_wsd_schedule

ENCORE_PLUGIN("wsd_schedule", "1.0.0") {
  plugin.add<encore::Kind::schedule, encore_wsd_schedule::WarmupStableDecay>("wsd");
}
