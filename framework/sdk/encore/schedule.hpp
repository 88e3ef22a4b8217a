// SPDX-License-Identifier: BSD-3-Clause
// Schedule: the learning rate over the steps, as a pure function, so that a resumed run needs no state of it.
#pragma once

#include <cstdint>

#include <encore/options.hpp>

namespace encore {

struct ScheduleContext {
  std::int64_t total_steps = 0;  ///< of the whole run
  std::int64_t width = 0;        ///< C, for schedules that scale with it (Noam)
};

class Schedule {
 public:
  virtual ~Schedule() = default;
  /// Factor on Optimizer::learning_rate() at `step`, counted from 1 to total_steps.
  virtual double factor(std::int64_t step) const = 0;
};

}  // namespace encore
