// SPDX-License-Identifier: BSD-3-Clause
// Chooses the number of threads with which a run trains while other programs use the machine, as a pure
// function of load samples. machine_load.hpp makes the samples, adaptive_threads.hpp calls these functions
// and applies the choice. Bits do not depend on the choice, so its rules may change.

// The model. Threads of a step wait for each other at the end of each kernel, a few thousand times a
// second. A thread whose core another program uses comes late by a time slice of milliseconds, and all
// others wait. So n threads that each get a share s of a core progress like n * s^n threads. As many
// threads as there are free cores do best: one more costs more than it brings as soon as about a quarter of
// a core is missing.
#pragma once

#include <limits>

namespace encore::train {

/// What happened on the machine over some time. Numbers are in CPUs: a CPU that was busy half of the time is
/// 0.5.
struct LoadSample {
  double seconds = 0.0;
  double free =
      0.0;  ///< of the CPUs that this process may use: not taken by others; its own use counts as free
  double waited = 0.0;  ///< threads of this process that were ready but had no CPU
  double granted = std::numeric_limits<double>::infinity();  ///< what control groups grant this process
};

/// The number of threads, and what next_choice() remembers between two samples.
struct ThreadChoice {
  int threads = 1;
  double free = 0.0, waited = 0.0, granted = 0.0;  ///< samples, smoothed over about a second
  double since_change = 0.0;                       ///< seconds
  double patience = 0.0;                           ///< seconds after a change before a rise
  bool raised = false;                             ///< the last change was upward
};

/// Returns the choice before any sample: all threads.
ThreadChoice first_choice(int most);
/// Returns the choice after a sample. 1 <= threads <= most. The number falls within a second, and rises once
/// the cores were free for about two seconds. If it falls soon after a rise, the next rise waits twice as
/// long, up to a minute.
ThreadChoice next_choice(ThreadChoice choice, const LoadSample& sample, int most);

}  // namespace encore::train
