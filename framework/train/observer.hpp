// SPDX-License-Identifier: BSD-3-Clause
// Observer is the interface that receives everything a training run reports, in the order in which it
// happens: events (record/events.hpp), steps and scores. The Trainer and its parts call it and know nothing
// of files or screens; spool_observer.hpp writes the calls into the attempt's spool. Tests implement it too.
// The order of the calls must stay, because an attempt that resumes does not repeat the reports before its
// checkpoint.
#pragma once

#include <cstdint>
#include <span>

#include <encore/error.hpp>
#include <encore/measure.hpp>

#include "data/split.hpp"
#include "infer/evaluator.hpp"
#include "record/events.hpp"

namespace encore::train {

/// One optimizer step, after the update.
struct StepReport {
  std::int64_t step = 0;         ///< from 1
  std::int64_t total_steps = 0;  ///< of the whole run
  std::int64_t epoch = 0;        ///< from 1
  double loss = 0.0;             ///< mean over the labelled tokens of the batch
  double gradient_norm = 0.0;    ///< before clipping
  double learning_rate = 0.0;
  std::int64_t tokens = 0;  ///< real tokens of the batch, including special tokens
  double seconds = 0.0;
};

/// The position at which training resumes from a checkpoint.
struct Resumption {
  std::int64_t step = 0;         ///< the last step that is done
  std::int64_t total_steps = 0;  ///< of the whole run
  std::int64_t epoch = 0;        ///< of that step, from 1
};

/// An error that has nothing to do with the experiment keeps a run from being recorded: a full disk, or
/// another attempt that owns the run. The run can be resumed later from its last checkpoint.
class RecordError : public Error {
 public:
  using Error::Error;
};

/// Every function may throw RecordError. When `happened` returns, all reports before the events Saved and
/// Ended are on disk. Ended is the last call.
class Observer : public record::EventObserver {
 public:
  /// Receives the measures that the task reports on dev and test. Called before the first event Evaluated.
  virtual void measures(std::span<const Measure> of_task) = 0;
  /// Called before the first step of an attempt that begins at a checkpoint, which may be that of the last
  /// step.
  virtual void resumed(const Resumption& resumption) = 0;
  virtual void stepped(const StepReport& report) = 0;
  /// Called repeatedly while a set is scored, which may take longer than many steps.
  virtual void scoring(data::Split split, const infer::EvaluationProgress& progress) = 0;
  /// Called when a checkpoint is written, before it is renamed into place. All earlier reports are on disk
  /// when this returns, because an attempt that resumes from the checkpoint does not repeat them.
  virtual void saving() = 0;
};

}  // namespace encore::train
