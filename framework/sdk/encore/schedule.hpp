// SPDX-License-Identifier: BSD-3-Clause
// Schedule: the rule for the learning rate at each step. The trainer multiplies Optimizer::learning_rate() by
// factor() before each update. factor() must be a pure function of the step, so that a resumed run needs no
// state of the schedule. The header is part of the ABI of plugins: a change needs a new ENCORE_SDK_VERSION
// (plugin.hpp). Read next: optimizer.hpp.
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
  /// Returns the factor on Optimizer::learning_rate() at `step`, which counts from 1 to total_steps.
  virtual double factor(std::int64_t step) const = 0;
};

}  // namespace encore
