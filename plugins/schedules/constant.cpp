// SPDX-License-Identifier: BSD-3-Clause
// Schedule "constant": the factor on the learning rate rises over warmup_steps, then stays 1 to the end. The
// trainer calls factor() before each update. Equal steps must give equal factors, because a resumed run
// computes them again.
#include <algorithm>

#include <encore/plugin.hpp>

#include "warmup.hpp"

namespace encore_constant_schedule {

using namespace encore;

class Constant final : public Schedule {
 public:
  static constexpr const char* summary =
      "the learning rate rises linearly over warmup_steps, from learning_rate / warmup_steps in the first "
      "step, then stays at learning_rate of `[optimizer]`";
  static Schema options() {
    Schema schema;
    schema.integer(
        "warmup_steps", 0,
        {.help = "number of steps in which the learning rate rises linearly", .unit = "steps", .min = 0});
    return encore_warmup::add_ratio(schema);
  }

  Constant(const Options& options, const ScheduleContext& context)
      : warmup_steps_(static_cast<double>(encore_warmup::steps(options, context))) {}

  double factor(std::int64_t step) const override {
    return std::min(1.0, static_cast<double>(step) / std::max(1.0, warmup_steps_));
  }

 private:
  double warmup_steps_;
};

}  // namespace encore_constant_schedule

ENCORE_PLUGIN("constant_schedule", "1.0.0") {
  plugin.add<encore::Kind::schedule, encore_constant_schedule::Constant>("constant");
}
