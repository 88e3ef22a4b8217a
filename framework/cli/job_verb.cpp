// job: what a launcher's command starts on the machine where a run is to be worked on. Not for people, so
// that no list of verbs names it: its arguments are orders that exp run has written (runner/job_files.hpp).
#include <iostream>

#include "cli/command_line.hpp"
#include "cli/stop_requests.hpp"
#include "cli/verbs.hpp"
#include "runner/job_keeper.hpp"

namespace encore {

int job_verb(const Arguments& arguments) {
  if (arguments.empty())
    throw UsageError(
        "exp job is started by exp run --launcher, with the orders to work on; for work of your own: exp "
        "run");
  listen_for_stop_requests();
  const int unfinished = keep_jobs({arguments.begin(), arguments.end()}, stop_requests());
  return unfinished == 0 ? exit_done : exit_interrupted;
}

}  // namespace encore
