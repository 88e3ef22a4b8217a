// What `exp bench` is asked to measure, from the request to the workers: the lists of threads, backends,
// precisions, batch sizes and lengths, crossed.
#pragma once

#include <vector>

#include "app/bench_requests.hpp"
#include "runner/bench_run.hpp"

namespace encore {

/// One worker for each number of threads and of ranks on each backend; the cases of all are the same, but
/// that several ranks have larger batches too. Throws UsageError or ConfigErrors for what cannot be measured:
/// nothing was started.
std::vector<BenchWorker> bench_workers(const MeasureRequest& request, const App& app);

}  // namespace encore
