// SPDX-License-Identifier: BSD-3-Clause
// Inactivity: how long a worker has reported no step, compared with the time of its steps. Its progress
// events say how long a step, and a pause between two steps, takes. `exp run` measures the inactivity itself
// (spool_follower.hpp); `exp status` takes it from the database. passed_limit() applies --step-timeout. It
// only decides about messages and kills; no result depends on it.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

#include "store/store.hpp"

namespace encore::runner {

struct Inactivity {
  double seconds = 0.0;        ///< since the last step, or since the worker's start where there was none
  double usual_step = 0.0;     ///< seconds; 0: not known
  double longest_pause = 0.0;  ///< between two steps until now: a dev score, a checkpoint; 0: not known
  bool stepped = false;
  bool last_step_done = false;  ///< only scores follow, however long they take

  /// Returns whether it is much longer than any pause before, so that the user should see a message.
  bool noticeable() const;
};

/// Returns the inactivity of a run from the database's row of its latest attempt; `now` is in seconds since
/// 1970.
Inactivity inactivity_of(const store::RunRow& run, double now);

/// The stage of a worker, as its spool shows it.
enum class WorkerStage : std::uint8_t {
  starting,   ///< it has not opened its spool: several ranks join first
  preparing,  ///< it reads data and makes a vocabulary, and reports nothing meanwhile
  training,
};

/// Returns the limit if the worker has written nothing for at least that time, otherwise nothing. `seconds`
/// is that time, `limit` is --step-timeout, or 0 for no limit. A start has at least a minute, and preparing
/// has no limit.
std::optional<std::chrono::seconds> passed_limit(WorkerStage stage, double seconds,
                                                 std::chrono::seconds limit);

}  // namespace encore::runner
