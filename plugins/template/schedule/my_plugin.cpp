// Schedule "my_plugin": the factor on the learning rate rises in a straight line over the first `warmup` of
// all steps, is then 1, and falls in a straight line to 0 over the last `decay` of them. It depends on the
// step alone. The trainer calls it through Schedule (encore/schedule.hpp). You may change everything here;
// README.md lists the rules.
#include <algorithm>

#include <encore/plugin.hpp>

namespace my_plugin_schedule {

using namespace encore;

class MyPluginSchedule final : public Schedule {
 public:
  static Schema options() {
    return Schema()
        .number("warmup", 0.1, {.help = "share of the steps in which the rate rises", .min = 0.0, .max = 1.0})
        .number("decay", 0.2,
                {.help = "share of the steps at the end in which it falls to zero", .min = 0.0, .max = 1.0});
  }

  MyPluginSchedule(const Options& options, const ScheduleContext& context)
      : warmup_(options.number("warmup")),
        decay_(options.number("decay")),
        total_(static_cast<double>(context.total_steps)) {
    if (warmup_ + decay_ > 1.0)
      throw OptionError("decay", "invalid warmup and decay: expected a sum of at most 1");
  }

  /// Returns the factor on optimizer.learning_rate at `step`, which counts from 1 to the last step.
  double factor(std::int64_t step) const override {
    const double done = static_cast<double>(step) / total_;
    const double up = warmup_ > 0.0 ? done / warmup_ : 1.0;
    const double down = decay_ > 0.0 ? (1.0 - done) / decay_ : 1.0;
    return std::min({1.0, up, down});
  }

 private:
  double warmup_, decay_, total_;
};

}  // namespace my_plugin_schedule

ENCORE_PLUGIN("my_plugin", "1.0.0") {
  plugin.add<encore::Kind::schedule, my_plugin_schedule::MyPluginSchedule>("my_plugin");
}
