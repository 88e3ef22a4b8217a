// Job keeper: what `exp job` does on the machine where a launched worker runs. It is the worker's parent,
// with a control pipe, so that the worker is the same as at home: it passes on what is asked by files, tells
// by a file that it lives and how the worker ended, and lets go of a run that somebody else has taken over.
// It opens no database. Read next: job_files.hpp.
#pragma once

#include <atomic>
#include <filesystem>
#include <vector>

namespace encore {

/// Works through the orders one after the other. `stop_requests` counts signals: the first has the worker
/// checkpoint and end, and no further order begin; the second kills the worker. Returns how many orders did
/// not end with exit code 0. Throws Error for an order that cannot be read, before anything is started.
int keep_jobs(const std::vector<std::filesystem::path>& orders, const std::atomic<int>& stop_requests);

}  // namespace encore
