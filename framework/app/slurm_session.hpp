// SPDX-License-Identifier: BSD-3-Clause
// The Slurm part of a session with --launcher slurm: the site file, the place of a worker in a job, and the
// settings of the SlurmRunner. run_session.cpp and search_session.cpp call it; read run_session.cpp next.
#pragma once

#include "app/run_session.hpp"
#include "runner/slurm/slurm_runner.hpp"

namespace encore::app {

/// Returns the place of a worker or its ranks in a job. Throws ConfigErrors for the site file, UsageError if
/// the site file starts no ranks, Error without Slurm.
runner::WorkerPlace slurm_place(const SessionRequest& request);
runner::SlurmSubmitter slurm_submitter(const SessionRequest& request, const store::Store& store);
/// Returns the settings of the runner of Slurm jobs. `session` must outlive them.
runner::SlurmSettings slurm_settings(const SessionRequest& request, const runner::WorkerPlace& place,
                                     const runner::SessionFile& session);

}  // namespace encore::app
