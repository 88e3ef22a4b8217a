// job: what a launcher's command starts on the machine where a run is to be worked on. Not for people, so
// that no list of verbs names it: its arguments are orders that exp run has written (runner/job_files.hpp).
#include <signal.h>

#include "cli/verbs.hpp"
#include "runner/job_keeper.hpp"
#include "runner/slurm/job_script.hpp"

namespace encore {

namespace {

/// Only a signal handler raises it, so it cannot belong to an object.
std::atomic<int> yield_requests{0};

/// Of Slurm, before a job's time limit.
void listen_for_yield_requests() {
  struct sigaction action {};
  action.sa_handler = [](int) { yield_requests.fetch_add(1); };
  sigemptyset(&action.sa_mask);
  ::sigaction(SIGUSR2, &action, nullptr);
}

}  // namespace

int job_verb(const Arguments& arguments, Console&) {
  if (arguments.empty())
    throw UsageError(
        "exp job is started by exp run --launcher, with the orders to work on; for work of your own: exp "
        "run");
  listen_for_yield_requests();
  listen_for_stop_requests();
  const KeptJobs kept =
      keep_jobs({arguments.begin(), arguments.end()}, {.stop = stop_requests(), .yield = yield_requests});
  if (kept.begin_again) return requeue_exit_code;
  return kept.unfinished == 0 ? exit_done : exit_interrupted;
}

}  // namespace encore
