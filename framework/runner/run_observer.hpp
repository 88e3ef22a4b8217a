// SPDX-License-Identifier: BSD-3-Clause
// RunObserver: receives what the control program learns while a worker runs, in the order in which it
// happens: the worker's events, and facts without an event. SpoolFollower, Recorder and Attempt call it; cli/
// implements it for the screen. Calls come from the control program's thread. An implementation must return
// at once, because all workers wait for it.
#pragma once

#include <cstdint>
#include <string>

#include "base/metric.hpp"
#include "record/events.hpp"
#include "runner/inactivity.hpp"

namespace encore::runner {

class RunObserver : public record::EventObserver {
 public:
  /// Reports a metric, with its meaning, before its first value.
  virtual void defined(const Metric&) {}
  /// Reports one optimizer step; `loss` is the mean over its batch.
  virtual void stepped(std::int64_t /*step*/, double /*loss*/) {}
  /// Reports that the worker has made no step for much longer than usual. Called repeatedly until it makes
  /// one.
  virtual void silent(const Inactivity&) {}
  /// Reports a problem of the record itself: the database is locked, the spool is damaged.
  virtual void noticed(const std::string& text) = 0;
};

}  // namespace encore::runner
