// A session with --launcher slurm: the site, the place of a worker in a job, and the settings of the
// SlurmRunner. Read next: run_session.cpp.
#pragma once

#include "app/run_session.hpp"
#include "runner/slurm/slurm_runner.hpp"

namespace encore {

/// Returns the place of a worker or its ranks in a job. Throws ConfigErrors for the site file, UsageError if
/// the site file starts no ranks, Error without Slurm.
WorkerPlace slurm_place(const SessionRequest& request);
SlurmSubmitter slurm_submitter(const SessionRequest& request, const Store& store);
/// `session` must outlive the settings.
SlurmSettings slurm_settings(const SessionRequest& request, const WorkerPlace& place,
                             const SessionFile& session);

}  // namespace encore
