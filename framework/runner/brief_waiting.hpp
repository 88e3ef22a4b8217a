// SPDX-License-Identifier: BSD-3-Clause
// Sets how the threads of a worker wait for each other at the end of a kernel: they spin for a moment and
// then sleep. OpenMP reads this from the environment before a worker's main begins, so `exp` sets it when it
// starts one.
#pragma once

#include <map>
#include <string>

namespace encore {

/// Returns variables for the environment of a worker; empty if the user has chosen (OMP_WAIT_POLICY,
/// GOMP_SPINCOUNT).
std::map<std::string, std::string> brief_waiting();

}  // namespace encore
