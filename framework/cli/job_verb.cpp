// SPDX-License-Identifier: BSD-3-Clause
// exp job: trains the runs of a job on the machine where a launcher (Slurm, ssh) has started it. Its
// arguments are files with orders that `exp run` has written (runner/job_files.hpp); an older exp may have
// written them, so old orders must stay readable. No list of verbs contains it, because users do not call it;
// main.cpp finds it by its name.
#include <signal.h>

#include "cli/verbs.hpp"
#include "runner/job_keeper.hpp"
#include "runner/slurm/submission.hpp"

namespace encore::cli {

namespace {

/// The number of requests to yield. A signal handler raises it, so it cannot belong to an object.
std::atomic<int> yield_requests{0};

/// Counts the signals that Slurm sends before a job's time limit.
void listen_for_yield_requests() {
  struct sigaction action {};
  action.sa_handler = [](int) { yield_requests.fetch_add(1); };
  sigemptyset(&action.sa_mask);
  ::sigaction(SIGUSR2, &action, nullptr);
}

}  // namespace

int job_verb(const Arguments& arguments, Console&) {
  if (arguments.empty())
    throw app::UsageError(
        "exp job is an internal command of exp run --launcher; to train a run yourself, use exp run");
  listen_for_yield_requests();
  listen_for_stop_requests();
  const runner::KeptJobs kept = runner::keep_jobs({arguments.begin(), arguments.end()},
                                                  {.stop = stop_requests(), .yield = yield_requests});
  if (kept.begin_again) return runner::requeue_exit_code;
  return kept.unfinished == 0 ? exit_done : exit_interrupted;
}

}  // namespace encore::cli
