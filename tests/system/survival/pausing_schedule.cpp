// SPDX-License-Identifier: BSD-3-Clause
// A plugin with the schedule "pausing": always the full learning rate; the real worker waits in it if a test
// holds it (support/pause.hpp, control/hold.hpp). Tests of control, slurm and survival name it in
// experiments. They name it, so the name must stay.
#include <encore/plugin.hpp>

#include "support/pause.hpp"

namespace pausing_schedule {

using namespace encore;

class Pausing final : public Schedule {
 public:
  static constexpr const char* summary = "the full learning rate; waits in the step that PAUSE_AT names";
  static Schema options() { return {}; }
  Pausing(const Options&, const ScheduleContext&) {}

  double factor(std::int64_t step) const override {
    while (pause_.holds(step)) {
    }
    return 1.0;
  }

 private:
  mutable testing::Pause pause_;
};

}  // namespace pausing_schedule

ENCORE_PLUGIN("pausing_schedule", "1.0.0") {
  plugin.add<encore::Kind::schedule, pausing_schedule::Pausing>("pausing");
}
