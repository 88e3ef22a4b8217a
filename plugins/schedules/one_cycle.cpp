// SPDX-License-Identifier: BSD-3-Clause
// Schedule "one_cycle" (Smith and Topin 2018): the learning rate rises from peak / initial_divisor over the
// first warmup_share of the steps, then falls to peak / (initial_divisor final_divisor) at the last step; the
// peak is optimizer.learning_rate. It equals PyTorch's OneCycleLR with two phases, which counts steps from 0,
// so the peak is at warmup_share * total_steps - 1. The trainer calls factor() before each update. Equal
// steps must give equal factors, because a resumed run computes them again.
#include <algorithm>
#include <cmath>
#include <numbers>

#include <encore/plugin.hpp>

namespace encore_one_cycle_schedule {

using namespace encore;

class OneCycle final : public Schedule {
 public:
  static constexpr const char* summary =
      "the learning rate rises once from a low value to its peak, the learning_rate of `[optimizer]`, then "
      "falls far below its first value (Smith and Topin 2018)";
  static Schema options() {
    return Schema()
        .number("warmup_share", 0.3,
                {.help = "share of all steps in which the learning rate rises", .min = 0.0, .max = 1.0})
        .choice("annealing", "cosine", {"cosine", "linear"}, {.help = "shape of the rise and the fall"})
        .number("initial_divisor", 25.0,
                {.help = "the first learning rate is the peak divided by this number", .min = 1.0})
        .number("final_divisor", 1e4,
                {.help = "the last learning rate is the first one divided by this number", .min = 1.0});
  }

  OneCycle(const Options& options, const ScheduleContext& context)
      : linear_(options.text("annealing") == "linear"),
        first_(1.0 / options.number("initial_divisor")),
        last_(first_ / options.number("final_divisor")),
        peak_at_(options.number("warmup_share") * static_cast<double>(context.total_steps) - 1.0),
        end_at_(static_cast<double>(context.total_steps) - 1.0) {}

  double factor(std::int64_t step) const override {
    const double at = std::min(static_cast<double>(step - 1), end_at_);
    if (at <= peak_at_) return peak_at_ > 0.0 ? between(first_, 1.0, at / peak_at_) : 1.0;
    return between(1.0, last_, (at - peak_at_) / (end_at_ - peak_at_));
  }

 private:
  /// Returns the value at `share` of the way: `from` where share is 0, `to` where it is 1.
  double between(double from, double to, double share) const {
    return linear_ ? from + (to - from) * share
                   : to + (from - to) * 0.5 * (1.0 + std::cos(std::numbers::pi * share));
  }

  bool linear_;
  double first_;
  double last_;
  double peak_at_;
  double end_at_;
};

}  // namespace encore_one_cycle_schedule

ENCORE_PLUGIN("one_cycle_schedule", "1.0.0") {
  plugin.add<encore::Kind::schedule, encore_one_cycle_schedule::OneCycle>("one_cycle");
}
