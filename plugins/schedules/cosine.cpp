// SPDX-License-Identifier: BSD-3-Clause
// Schedule "cosine": the factor on the learning rate rises over warmup_steps, then falls along half a cosine
// to `floor` at the last step (Loshchilov and Hutter 2017). The trainer calls factor() before each update.
// Equal steps must give equal factors, because a resumed run computes them again.
#include <algorithm>
#include <cmath>
#include <numbers>

#include <encore/plugin.hpp>

#include "warmup.hpp"

namespace encore_cosine_schedule {

using namespace encore;

class Cosine final : public Schedule {
 public:
  static constexpr const char* summary =
      "the learning rate rises linearly over warmup_steps, then falls along half a cosine, down to floor at "
      "the last step (Loshchilov and Hutter 2017)";
  static Schema options() {
    Schema schema;
    schema.integer(
        "warmup_steps", 200,
        {.help = "number of steps in which the learning rate rises linearly", .unit = "steps", .min = 0});
    return encore_warmup::add_ratio(schema).number(
        "floor", 0.0,
        {.help = "the learning rate of the last step, divided by the highest learning rate",
         .min = 0.0,
         .max = 1.0});
  }

  Cosine(const Options& options, const ScheduleContext& context)
      : warmup_steps_(encore_warmup::steps(options, context)),
        floor_(options.number("floor")),
        total_steps_(context.total_steps) {}

  double factor(std::int64_t step) const override {
    if (step <= warmup_steps_) return static_cast<double>(step) / static_cast<double>(warmup_steps_);
    const double past = static_cast<double>(step - warmup_steps_);
    const double all = std::max(1.0, static_cast<double>(total_steps_ - warmup_steps_));
    const double half_wave = 0.5 * (1.0 + std::cos(std::numbers::pi * std::min(1.0, past / all)));
    return floor_ + (1.0 - floor_) * half_wave;
  }

 private:
  std::int64_t warmup_steps_;
  double floor_;
  std::int64_t total_steps_;
};

}  // namespace encore_cosine_schedule

ENCORE_PLUGIN("cosine_schedule", "1.0.0") {
  plugin.add<encore::Kind::schedule, encore_cosine_schedule::Cosine>("cosine");
}
