// Ranks of `exp run`, `exp retry` and `exp verify`: how many processes train each run together, and the
// command that starts them. Place in the flow: session_places (run_session.hpp) and slurm_place
// (slurm_session.hpp) give every place its ranks; the runner starts the launcher in the place of a worker.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "app/planned_runs.hpp"

namespace encore {

struct RankRequest {
  int ranks = 1;
  std::optional<std::string> mpirun;  ///< what starts them
};

/// What to do about a worker without MPI, as messages and `exp doctor` say it.
inline constexpr const char* build_with_mpi =
    "build it again with ./exp build --mpi, which installs Open MPI on Debian (elsewhere load the site's "
    "module first)";
inline constexpr const char* mpirun_help =
    "what starts the ranks in place of mpirun, such as \"srun -n {ranks}\" (default: $ENCORE_MPIRUN)";

/// --ranks, --mpirun.
Form<RankRequest> rank_options();
/// Throws UsageError for several ranks of a backend that they do not compute with.
void require_rank_backend(int ranks, const std::string& backend);

/// The words in front of the worker: those of --mpirun or $ENCORE_MPIRUN, with {ranks} and, by the threads of
/// each, {cpus} replaced; else Open MPI's mpirun with what this machine needs. Empty for one rank.
std::vector<std::string> rank_launcher(const RankRequest& request, int threads);
/// The words of a command that starts `ranks` processes, with {ranks} and {cpus} replaced; one that does not
/// count gets "-n RANKS".
std::vector<std::string> launcher_words(const std::string& command, int ranks, int cpus);

/// Throws UsageError before anything is started: where the worker was built without MPI, the launcher is not
/// there (unless ranks are started `elsewhere`), or the ranks do not divide the gradient shards of a run.
void require_ranks(const RankRequest& request, bool elsewhere, const PlannedRuns& planned);
/// The last of these for one run.
void require_ranks_divide(int ranks, const Specification& specification);
/// The others, for several ranks.
void require_rank_programs(const RankRequest& request, bool elsewhere, const std::filesystem::path& worker);

}  // namespace encore
