// SPDX-License-Identifier: BSD-3-Clause
// RunTask: what to do for one run; prepare_work(): turns a taken lease into the order for its worker. Place
// in the flow: planners in app/ make tasks -> Runner or SlurmRunner takes a lease -> here -> attempt.hpp
// follows the worker, or slurm/submitter.hpp packs the order into a job. The arguments are those of
// worker/train_verb.cpp, from the same build.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <vector>

#include <nlohmann/json.hpp>

#include "runner/parent_weights.hpp"
#include "runner/worker.hpp"
#include "store/store.hpp"

namespace encore::runner {

struct RunTask {
  std::int64_t run = 0;  ///< row number in the store
  record::Specification specification;
  std::filesystem::path worker;         ///< the program
  nlohmann::json plugin_change;         ///< recorded as the event "plugin_change", unless null
  std::int64_t seen_attempts = 0;       ///< number of attempts that were known when the run was chosen
  std::vector<TakenWeights> weights;    ///< recorded as events: the weights of runs that it needs
  std::vector<std::size_t> after = {};  ///< tasks whose runs it needs: they are trained first
  std::int64_t stop_after_epoch = 0;    ///< of a search: trained up to there, then interrupted; 0: to its end
  std::int64_t pause_after_step = 0;    ///< the same by steps
  bool from_start = false;              ///< without the checkpoints of earlier attempts
  /// A worker that writes nothing into its spool for this long is killed, and the run has failed; 0: no limit
  /// (inactivity.hpp).
  std::chrono::seconds step_timeout = std::chrono::seconds(0);
};

/// Writes what the worker reads into the run's folder, and the events of the control program into the store.
/// `place` loses its ranks if the run trains nothing. Throws Error, LeaseLost.
WorkOrder prepare_work(store::Store& store, const RunTask& task, const store::Lease& lease,
                       WorkerPlace& place);

}  // namespace encore::runner
