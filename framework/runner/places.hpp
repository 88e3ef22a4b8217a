// Places: how the machine is divided among workers that run at the same time: each gets cores of its own, as
// many threads, and where the backend computes on GPUs one of them. `exp run -j N` asks, the runner seats its
// workers there (WorkerPlace in worker_process.hpp).
#pragma once

#include <string>
#include <vector>

#include "runner/worker_process.hpp"
#include "world/cores.hpp"

namespace encore {

struct PlacesWanted {
  int workers = 1;
  int threads = 0;  ///< of each worker; 0: as default_threads says for its share of the cores
  OpenMpWishes wishes = {};
  std::string backend;                    ///< "openmp", "cuda", "hip"
  std::vector<std::string> devices = {};  ///< one per worker; empty: the environment decides
  int ranks = 1;                          ///< of each worker, which share its cores and are not pinned
};

/// One place per worker. A single worker keeps all cores. Of more workers each gets its own share of the
/// cores, unless there are fewer cores than workers or the threads asked for do not fit: then all share all.
/// Threads are pinned, one to each core, where a worker has as many threads as cores of its own and neither
/// the environment nor a control group has another opinion. Throws Error where a worker would have more
/// threads than Kokkos can run.
std::vector<WorkerPlace> make_places(const Cores& cores, const PlacesWanted& wanted);
/// "2 workers at once, 1 thread each, on cores 0 | 1", "2 threads, one pinned to each of the cores 0-1"
/// `unpinned`: why a worker is not pinned, where that is known (why_unpinned).
std::string places_text(const std::vector<WorkerPlace>& places, const std::string& unpinned = "");
/// "a control group grants 1 of 2 CPUs"; empty where neither the environment nor a control group forbids it.
std::string why_unpinned(const Cores& cores, const OpenMpWishes& wishes);

/// "0,1" to its parts. Throws Error for an empty part, one that is no number or device name, and one that
/// stands twice.
std::vector<std::string> parse_devices(const std::string& list);
/// The devices of so many workers where the user named none: the first ones this process may see. Throws
/// Error when the machine is known to have fewer.
std::vector<std::string> first_devices(const std::string& backend, int workers);

}  // namespace encore
