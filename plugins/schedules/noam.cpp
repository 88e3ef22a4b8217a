// SPDX-License-Identifier: BSD-3-Clause
// Schedule "noam", that of the first Transformer (Vaswani et al. 2017, section 5.3): width^-0.5 *
// min(step^-0.5, step * warmup_steps^-1.5). This is the whole learning rate, so optimizer.learning_rate is
// usually 1. The trainer calls factor() before each update. Equal steps must give equal factors, because a
// resumed run computes them again.
#include <algorithm>
#include <cmath>

#include <encore/plugin.hpp>

#include "warmup.hpp"

namespace encore_noam_schedule {

using namespace encore;

class Noam final : public Schedule {
 public:
  static constexpr const char* summary =
      "the schedule of the first Transformer: it multiplies optimizer.learning_rate, which is usually 1 with "
      "it, by model.width^-0.5 * min(step^-0.5, step * warmup_steps^-1.5) (Vaswani et al. 2017, section 5.3)";
  static Schema options() {
    Schema schema;
    schema.integer(
        "warmup_steps", 4000,
        {.help = "number of steps in which the learning rate rises; afterwards it falls as 1 / sqrt(step)",
         .unit = "steps",
         .min = 1});
    return encore_warmup::add_ratio(schema);
  }

  Noam(const Options& options, const ScheduleContext& context)
      : warmup_steps_(std::max(1.0, static_cast<double>(encore_warmup::steps(options, context)))),
        width_(static_cast<double>(context.width)) {}

  double factor(std::int64_t step) const override {
    const double s = static_cast<double>(step);
    return std::min(1.0 / std::sqrt(s), s / (warmup_steps_ * std::sqrt(warmup_steps_))) / std::sqrt(width_);
  }

 private:
  double warmup_steps_;
  double width_;
};

}  // namespace encore_noam_schedule

ENCORE_PLUGIN("noam_schedule", "1.0.0") {
  plugin.add<encore::Kind::schedule, encore_noam_schedule::Noam>("noam");
}
