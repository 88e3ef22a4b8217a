// SPDX-License-Identifier: BSD-3-Clause
// Observer receives everything that a run reports, in the order in which it happens: its events
// (record/events.hpp), and what a spool keeps in another form. The trainer knows nothing of spools, files or
// screens; spool_observer.hpp writes these calls into the attempt's spool.
#pragma once

#include <cstdint>
#include <span>

#include <encore/error.hpp>
#include <encore/measure.hpp>

#include "data/split.hpp"
#include "infer/evaluator.hpp"
#include "record/events.hpp"

namespace encore {

/// One optimizer step, after the update.
struct StepReport {
  std::int64_t step = 0;         ///< from 1
  std::int64_t total_steps = 0;  ///< of the whole run
  std::int64_t epoch = 0;        ///< from 1
  double loss = 0.0;             ///< mean over the labelled tokens of the batch
  double gradient_norm = 0.0;    ///< before clipping
  double learning_rate = 0.0;
  std::int64_t tokens = 0;  ///< real tokens of the batch, special tokens included
  double seconds = 0.0;
};

/// The point at which training resumes.
struct Resumption {
  std::int64_t step = 0;         ///< the last one done
  std::int64_t total_steps = 0;  ///< of the whole run
  std::int64_t epoch = 0;        ///< of that step, from 1
};

/// A cause outside the experiment keeps a run from being recorded: a full disk, or another attempt that owns
/// the run. The run can be resumed later from its last checkpoint.
class RecordError : public Error {
 public:
  using Error::Error;
};

/// Every call may throw RecordError. When `happened` returns, everything reported before Saved and before
/// Ended is on disk. Ended is the last call.
class Observer : public EventObserver {
 public:
  /// Receives what the task measures on dev and test, before the first Evaluated.
  virtual void measures(std::span<const Measure> of_task) = 0;
  /// Is called before the first step of an attempt that begins at a checkpoint, which may be the last step.
  virtual void resumed(const Resumption& resumption) = 0;
  virtual void stepped(const StepReport& report) = 0;
  /// Is called repeatedly while a set is scored, which may take longer than many steps.
  virtual void scoring(Split split, const EvaluationProgress& progress) = 0;
  /// Is called when a checkpoint is written and will be renamed next. What was reported so far is on disk
  /// when this returns: an attempt that resumes from that checkpoint does not report it again.
  virtual void saving() = 0;
};

}  // namespace encore
