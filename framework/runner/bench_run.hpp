// SPDX-License-Identifier: BSD-3-Clause
// run_bench(): lets several workers measure in turn. Each is its own process (its threads and backend are
// fixed), is set up once, and is then asked for one round after another, never two at a time. Place in the
// flow: cli/bench_verb.cpp -> run_bench -> encore-worker bench, which answers in spools. The database stores
// the result (store/bench_result.hpp); what happens within a round must stay the same, or measurements of
// different days cannot be compared.
#pragma once

#include <atomic>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "record/bench_request.hpp"
#include "runner/worker_process.hpp"
#include "store/bench_result.hpp"

namespace encore::runner {

/// A worker that takes part, with what it measures.
struct BenchWorker {
  std::string name;  ///< "openmp, 2 threads"
  std::string backend;
  std::filesystem::path program;
  WorkerPlace place;
  record::BenchRequest request;
  /// The settings of each case of the request in a result (BenchCase::settings).
  std::vector<nlohmann::json> settings;
};

/// What is measured now, for the live line.
struct BenchProgress {
  std::string worker;
  std::int64_t round = 0;  ///< 0: warm-up; -1: being set up
  std::int64_t rounds = 0;
};

/// Returns cases with their samples and `noise`; the caller adds the rest. The folder keeps what the workers
/// wrote. Throws Error with a worker's own words when one fails, and when `stop` becomes positive.
store::BenchResult run_bench(const std::filesystem::path& folder, const std::vector<BenchWorker>& workers,
                             const std::atomic<int>& stop,
                             const std::function<void(const BenchProgress&)>& progress);

}  // namespace encore::runner
