// SPDX-License-Identifier: BSD-3-Clause
// brief_waiting(): sets how the threads of a worker wait for each other at the end of a kernel: they spin for
// a moment and then sleep. OpenMP reads this from the environment before a worker's main begins, so
// worker_process.cpp adds it to the environment of each worker. It changes speed only, never results. Its
// numbers may change; brief_waiting.cpp says what was tried.
#pragma once

#include <map>
#include <string>

namespace encore::runner {

/// Returns variables for the environment of a worker; empty if the user has chosen (OMP_WAIT_POLICY,
/// GOMP_SPINCOUNT).
std::map<std::string, std::string> brief_waiting();

}  // namespace encore::runner
