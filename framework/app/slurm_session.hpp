// What --launcher slurm makes of a session: the site, the place of a worker in a job, and the settings of the
// SlurmRunner. Read next: run_session.cpp.
#pragma once

#include "app/run_session.hpp"
#include "runner/slurm/slurm_runner.hpp"

namespace encore {

/// Of a worker in a job, or of its ranks. Throws ConfigErrors for the site file, UsageError where that starts
/// no ranks, Error where there is no Slurm.
WorkerPlace slurm_place(const SessionRequest& request);
SlurmSubmitter slurm_submitter(const SessionRequest& request, const Store& store);
/// `session` outlives the settings.
SlurmSettings slurm_settings(const SessionRequest& request, const WorkerPlace& place,
                             const SessionFile& session);

}  // namespace encore
