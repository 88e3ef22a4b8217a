// SPDX-License-Identifier: BSD-3-Clause
// The Slurm part of a session (--launcher slurm): reads the site file of a cluster (config/site_file.hpp) and
// makes the place and the settings of jobs, for run_session.cpp and search_session.cpp. Everything that can
// be wrong is refused here, before a run is added to the database. runner/slurm/ submits the jobs. Read next:
// run_session.hpp.
#include "app/run_session.hpp"

#include <algorithm>

#include "config/site_file.hpp"
#include "record/thread_adaptation.hpp"
#include "runner/programs.hpp"

namespace encore::app {

namespace {

/// Returns the file of --site, else the user's own file if it exists.
config::SlurmSite site_of(const SessionRequest& request) {
  if (request.site) return config::load_site(*request.site);
  const std::filesystem::path own = config::default_site_file();
  std::error_code ignored;
  return !own.empty() && std::filesystem::exists(own, ignored) ? config::load_site(own) : config::SlurmSite{};
}

}  // namespace

runner::WorkerPlace slurm_place(const SessionRequest& request) {
  const config::SlurmSite site = site_of(request);
  runner::read_limits();  // throws without Slurm, before a run is added
  runner::WorkerPlace place;
  place.threads = request.threads > 0 ? request.threads : site.cpus;
  place.ranks = request.ranks.ranks;
  if (place.ranks > 1) {
    place.rank_launcher =
        launcher_words(request.ranks.mpirun.value_or(site.mpi), place.ranks, std::max(1, site.cpus));
    if (place.rank_launcher.empty())
      throw UsageError(
          "--ranks " + std::to_string(place.ranks) +
          " with --launcher slurm needs the command that starts ranks inside a job: `mpi = \"srun --mpi=pmix "
          "-n {ranks} -c {cpus}\"` in [slurm] of the site file, or --mpirun COMMAND");
    place.threads = std::max(1, place.threads);  // Slurm gives each task one CPU
  }
  if (place.threads > 0) place.variables["OMP_NUM_THREADS"] = std::to_string(place.threads);
  if (request.threads == 0)
    place.variables[record::thread_adaptation_variable] = record::name_of(record::ThreadAdaptation::threads);
  place.host = *request.launcher;
  return place;
}

runner::SlurmSubmitter slurm_submitter(const SessionRequest& request, const store::Store& store) {
  return {store.runs_folder(), runner::installed_programs().folder / "exp", site_of(request),
          runner::read_limits()};
}

runner::SlurmSettings slurm_settings(const SessionRequest& request, const runner::WorkerPlace& place,
                                     const runner::SessionFile& session) {
  runner::SlurmSettings settings{
      .place = place, .retries = request.retries, .fail_fast = request.fail_fast, .detach = request.detach};
  settings.stop_wish = [&session] { return session.asked(); };
  return settings;
}

}  // namespace encore::app
