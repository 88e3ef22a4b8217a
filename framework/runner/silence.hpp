// Silence: how long a worker has told of no step, held against how long its steps take. Place in the flow:
// the worker's progress events say how long a step and a pause between two steps take; `exp run` measures the
// silence itself, `exp status` takes it from the database.
#pragma once

#include "store/store.hpp"

namespace encore {

struct Silence {
  double seconds = 0.0;        ///< since the last step, or since the worker's start where there was none
  double usual_step = 0.0;     ///< seconds; 0: not known
  double longest_pause = 0.0;  ///< between two steps until now: a dev score, a checkpoint; 0: not known
  bool stepped = false;
  bool last_step_done = false;  ///< only scores follow, however long they take

  /// Whether it is much longer than anything before, so that it is worth a word.
  bool noticeable() const;
};

/// From what the database has of the run's latest attempt; `now` in seconds since 1970.
Silence silence_of(const RunRow& run, double now);

}  // namespace encore
