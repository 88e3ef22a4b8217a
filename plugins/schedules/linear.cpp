// SPDX-License-Identifier: BSD-3-Clause
// Schedule "linear": the factor on the learning rate rises over warmup_steps, then falls in a straight line
// that reaches zero one step after the last. The trainer calls factor() before each update. Equal steps
// must give equal factors, because a resumed run computes them again.
#include <algorithm>

#include <encore/plugin.hpp>

#include "warmup.hpp"

namespace encore_linear_schedule {

using namespace encore;

class Linear final : public Schedule {
 public:
  static constexpr const char* summary =
      "the learning rate rises linearly over warmup_steps, then falls linearly and would reach zero one step "
      "after the last (Devlin et al. 2019)";
  static Schema options() {
    Schema schema;
    schema.integer(
        "warmup_steps", 200,
        {.help = "number of steps in which the learning rate rises linearly", .unit = "steps", .min = 0});
    return encore_warmup::add_ratio(schema);
  }

  Linear(const Options& options, const ScheduleContext& context)
      : warmup_steps_(static_cast<double>(encore_warmup::steps(options, context))),
        total_steps_(static_cast<double>(context.total_steps)) {}

  /// Returns the smaller of the rising and the falling line, also if the warm-up is longer than the run.
  double factor(std::int64_t step) const override {
    const double up = static_cast<double>(step) / std::max(1.0, warmup_steps_);
    const double down =
        (total_steps_ - static_cast<double>(step - 1)) / std::max(1.0, total_steps_ - warmup_steps_);
    return std::clamp(std::min(up, down), 0.0, 1.0);
  }

 private:
  double warmup_steps_;
  double total_steps_;
};

}  // namespace encore_linear_schedule

ENCORE_PLUGIN("linear_schedule", "1.0.0") {
  plugin.add<encore::Kind::schedule, encore_linear_schedule::Linear>("linear");
}
