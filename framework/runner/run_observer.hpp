// SPDX-License-Identifier: BSD-3-Clause
// RunObserver receives what the control program learns while a worker runs, in the order in which it happens:
// the worker's events, and facts without one. The runner calls it; the owner of the screen implements it.
#pragma once

#include <cstdint>
#include <string>

#include "base/metric.hpp"
#include "record/events.hpp"
#include "runner/inactivity.hpp"

namespace encore {

class RunObserver : public EventObserver {
 public:
  /// Reports a metric that the worker uses from now on, with what it means.
  virtual void defined(const Metric&) {}
  /// Reports one optimizer step; `loss` is the mean over its batch.
  virtual void stepped(std::int64_t /*step*/, double /*loss*/) {}
  /// The worker has reported no step for much longer than usual. It is called repeatedly until it does.
  virtual void silent(const Inactivity&) {}
  /// Reports a problem of the record itself: the database is locked, the spool is damaged.
  virtual void noticed(const std::string& text) = 0;
};

}  // namespace encore
