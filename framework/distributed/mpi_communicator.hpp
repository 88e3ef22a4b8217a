// The ranks that mpirun, or a site's srun, has started, over MPI. The only place that knows MPI; a build
// without it has the function all the same, which says so. Place in the flow: the worker's train.
#pragma once

#include <memory>
#include <string>

#include "distributed/communicator.hpp"

namespace encore {

/// "Open MPI 4.1.4", as it was loaded; empty where this build has no MPI.
std::string mpi_library();

/// MPI begins with this call and ends with the communicator. Throws Error where the build has no MPI, where
/// the library that was loaded is another one than it was built with, and where mpirun has not started
/// `ranks` processes that know each other.
std::unique_ptr<Communicator> join_ranks(int ranks);

}  // namespace encore
