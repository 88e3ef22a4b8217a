// SPDX-License-Identifier: BSD-3-Clause
// bench_workers(): the cases that `exp bench` measures, all combinations of threads, backends, precisions,
// batch sizes and lengths in the request. cli/bench_verb.cpp calls it and starts the workers.
#pragma once

#include <vector>

#include "app/bench_requests.hpp"
#include "runner/bench_run.hpp"

namespace encore::app {

/// Returns one worker for each backend and each number of threads and ranks. All have the same cases; several
/// ranks also have larger batches. Throws UsageError or ConfigErrors if a case cannot be measured; nothing
/// has started then.
std::vector<runner::BenchWorker> bench_workers(const MeasureRequest& request, const App& app);

}  // namespace encore::app
