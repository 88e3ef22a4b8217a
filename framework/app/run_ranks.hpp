// SPDX-License-Identifier: BSD-3-Clause
// Ranks of `exp run`, `exp retry` and `exp verify`: how many processes train each run together, and the
// command that starts them. session_places and slurm_place (run_session.hpp) set the ranks of each place; the
// runner starts the launcher instead of a worker. Ranks never change the bits of a run, so they are not part
// of its identity.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "app/planned_runs.hpp"

namespace encore::app {

struct RankRequest {
  int ranks = 1;                      ///< processes that train each run together; 1: none but the worker
  std::optional<std::string> mpirun;  ///< the command that starts them
};

/// The advice for a worker without MPI, in messages and `exp doctor`.
inline constexpr const char* build_with_mpi =
    "rebuild with ./exp build --mpi, which installs Open MPI on Debian (elsewhere, load the site's module "
    "first)";
inline constexpr const char* mpirun_help =
    "command that starts the ranks, such as \"srun -n {ranks} -c {cpus}\"; cpus: threads of each rank "
    "(default: $ENCORE_MPIRUN, else Open MPI's mpirun)";

/// The options --ranks and --mpirun.
Form<RankRequest> rank_options();
/// Throws UsageError for several ranks on a backend of GPUs.
void require_rank_backend(int ranks, const std::string& backend);

/// Returns the words before the worker: --mpirun or $ENCORE_MPIRUN with {ranks} and {cpus} (the threads of
/// each rank) replaced, else Open MPI's mpirun with the options for this machine. Empty for one rank.
std::vector<std::string> rank_launcher(const RankRequest& request, int threads);
/// Returns the words of a command that starts `ranks` processes, with {ranks} and {cpus} replaced. A command
/// without {ranks} gets "-n RANKS".
std::vector<std::string> launcher_words(const std::string& command, int ranks, int cpus);

/// Throws UsageError before anything starts if the worker was built without MPI, the launcher is missing
/// (unless ranks start `elsewhere`), or the ranks do not divide the gradient shards of a run.
void require_ranks(const RankRequest& request, bool elsewhere, const PlannedRuns& planned);
/// Throws UsageError if the ranks do not divide the gradient shards of one run.
void require_ranks_divide(int ranks, const record::Specification& specification);
/// Makes the checks of require_ranks() that depend on no run, if there are several ranks.
void require_rank_programs(const RankRequest& request, bool elsewhere, const std::filesystem::path& worker);

}  // namespace encore::app
