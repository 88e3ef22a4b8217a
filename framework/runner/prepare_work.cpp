// SPDX-License-Identifier: BSD-3-Clause
// prepare_work(): writes the specification into the run's folder and events into the store, removes old
// checkpoints if the run starts again, and returns the command line of the worker, which finds its
// checkpoint by itself. Attempt and SlurmRunner call it after they have taken the lease. A run that resumes
// must keep its rule for equal scores. Read prepare_work.hpp first.
#include "runner/prepare_work.hpp"

#include <encore/error.hpp>

#include "record/checkpoint.hpp"
#include "runner/attempt_end.hpp"
#include "runner/stop_request.hpp"

namespace encore::runner {

namespace {

/// Returns the rule for equal scores (Ties). A run that resumes from a checkpoint keeps the rule with which
/// it began. If its specification.json is missing or damaged, the planned rule is used, because the file is
/// written again from the plan.
record::Ties ties_of(const RunTask& task, const std::filesystem::path& folder) {
  if (task.from_start || record::list_checkpoints(folder).empty()) return task.specification.ties;
  try {
    return record::Specification::load(folder).ties;
  } catch (const Error&) {
    return task.specification.ties;
  }
}

}  // namespace

WorkOrder prepare_work(store::Store& store, const RunTask& task, const store::Lease& lease,
                       WorkerPlace& place) {
  const std::filesystem::path folder = store.run_folder(lease.run_id);
  forget_stop_requests_before(folder, lease.ordinal);
  if (task.from_start) record::prune_checkpoints(folder, {});
  record::Specification specification = task.specification;
  specification.ties = ties_of(task, folder);
  specification.save(folder);
  if (!task.plugin_change.is_null()) store.add_event(lease, "plugin_change", task.plugin_change);
  for (const TakenWeights& taken : task.weights) store.add_event(lease, taken.event, taken.body);
  std::vector<std::string> arguments = {
      "train",   "--run-folder", folder.string(), "--attempt", std::to_string(lease.ordinal),
      "--lease", lease.token};
  if (place.threads > 0) arguments.insert(arguments.end(), {"--threads", std::to_string(place.threads)});
  if (task.stop_after_epoch > 0)
    arguments.insert(arguments.end(), {"--stop-after-epoch", std::to_string(task.stop_after_epoch)});
  if (task.pause_after_step > 0)
    arguments.insert(arguments.end(), {"--pause-after-step", std::to_string(task.pause_after_step)});
  // One process takes over weights, or fits an application.
  if (record::trains_nothing(task.specification) || record::is_application(task.specification)) {
    place.ranks = 1;
    place.rank_launcher.clear();
  }
  if (place.ranks > 1) arguments.insert(arguments.end(), {"--ranks", std::to_string(place.ranks)});
  return {.program = task.worker,
          .arguments = std::move(arguments),
          .run_folder = folder,
          .log = folder / log_name(lease.ordinal),
          .attempt = lease.ordinal,
          .token = lease.token,
          .step_timeout = task.step_timeout};
}

}  // namespace encore::runner
