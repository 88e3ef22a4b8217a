// Observer: everything a run tells about itself, in the order in which it happens.
// The trainer knows nothing of spools, files or screens; spool_observer.hpp writes these calls into the
// attempt's spool.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "tasks/task.hpp"

namespace encore {

/// One optimizer step, after the update.
struct StepReport {
  std::int64_t step = 0;         ///< from 1
  std::int64_t total_steps = 0;  ///< when every epoch is run
  std::int64_t epoch = 0;        ///< from 1
  double loss = 0.0;             ///< mean over the labelled tokens of the batch
  double gradient_norm = 0.0;    ///< before clipping
  double learning_rate = 0.0;
  std::int64_t tokens = 0;  ///< real tokens of the batch, special pieces counted
  double seconds = 0.0;
};

/// SHA-256 of a block after `step` updates; scope names the block: "parameters", "optimizer/first_moment".
struct Digest {
  std::int64_t step = 0;
  std::string scope;
  std::string sha256;
  /// The first 16 digits of the SHA-256 of each tensor, by path, where they are told: they name what differs,
  /// the block's digest decides that something does.
  std::map<std::string, std::string> tensors = {};
};

enum class CheckpointKind : std::uint8_t { last, best };

struct CheckpointReport {
  std::int64_t step = 0;
  CheckpointKind kind = CheckpointKind::last;
  std::string path;  ///< relative to the run folder
  std::uint64_t bytes = 0;
  std::string sha256;
};

/// How an attempt ended.
enum class Ending : std::uint8_t {
  completed,    ///< everything done, test set scored
  interrupted,  ///< a checkpoint is on disk, the same command goes on
  failed,       ///< wrong: going on would fail again
};

/// The world, not the experiment, keeps a run from being recorded: a full disk, a run that another attempt
/// owns. The run can go on later from its last checkpoint.
class RecordError : public Error {
 public:
  using Error::Error;
};

/// Every call may throw RecordError.
class Observer {
 public:
  virtual ~Observer() = default;
  virtual void log(const std::string& message) = 0;
  virtual void stepped(const StepReport& report) = 0;
  virtual void measured(std::int64_t step, const std::vector<Measure>& measures) = 0;
  virtual void digested(const Digest& digest) = 0;
  /// A checkpoint is written and gets its name next. What was told so far is on disk when this returns:
  /// whoever goes on from that checkpoint does not tell it again.
  virtual void saving() = 0;
  virtual void saved(const CheckpointReport& report) = 0;
  /// A file of the run folder that is finished, such as the predictions on the test set.
  virtual void wrote(const std::string& name, const std::string& path, const std::string& sha256) = 0;
  /// The run's answer: step of the chosen checkpoint and its scores.
  virtual void concluded(std::int64_t best_step, const std::vector<Measure>& result) = 0;
  /// The last call: everything before it is on disk when it returns.
  virtual void ended(Ending ending, const std::string& reason, std::int64_t step) = 0;
};

}  // namespace encore
