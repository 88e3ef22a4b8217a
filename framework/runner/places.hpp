// SPDX-License-Identifier: BSD-3-Clause
// WorkerPlace values for workers that run at the same time: each gets its own cores, one thread per core, and
// one GPU if the backend computes on GPUs. Place in the flow: `exp run -j N`, bench, verify and serve call
// make_places() -> Runner starts a worker at each place (WorkerPlace in worker_process.hpp). Places change
// speed only, never results.
#pragma once

#include <string>
#include <vector>

#include "runner/worker_process.hpp"
#include "world/cores.hpp"

namespace encore::runner {

struct PlacesWanted {
  int workers = 1;
  int threads = 0;  ///< of each worker; 0: as default_threads says for its share of the cores
  world::OpenMpWishes wishes = {};
  std::string backend;                    ///< "openmp", "serial", "cuda", "hip"
  std::vector<std::string> devices = {};  ///< one per worker; empty: the environment decides
  int ranks = 1;                          ///< of each worker, which share its cores and are not pinned
};

/// Returns one place per worker. A single worker keeps all cores. Each of several workers gets its own share
/// of the cores, unless there are fewer cores than workers or the requested threads do not fit: then all
/// share all. Threads are pinned, one to each core, if a worker has as many threads as cores of its own and
/// neither the environment nor a control group forbids it. Throws Error if a worker would have more threads
/// than Kokkos can run.
std::vector<WorkerPlace> make_places(const world::Cores& cores, const PlacesWanted& wanted);
/// Returns "2 workers at once, 1 thread each, on cores 0 | 1", "2 threads, one pinned to each of the cores
/// 0-1". `unpinned` says why a worker is not pinned, if that is known (why_unpinned).
std::string places_text(const std::vector<WorkerPlace>& places, const std::string& unpinned = "");
/// Returns "a control group grants 1 of 2 CPUs"; empty if neither environment nor control group forbids it.
std::string why_unpinned(const world::Cores& cores, const world::OpenMpWishes& wishes);

/// Splits "0,1". Throws Error for an empty part, one that is not a number or device name, and one that stands
/// twice.
std::vector<std::string> parse_devices(const std::string& list);
/// Returns the default devices for N workers: the first ones that this process may see. Throws Error when the
/// machine is known to have fewer.
std::vector<std::string> first_devices(const std::string& backend, int workers);

}  // namespace encore::runner
