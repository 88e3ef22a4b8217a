// SPDX-License-Identifier: BSD-3-Clause
// Connects the ranks that mpirun, or a site's srun, has started, over MPI. Only this file knows MPI. A build
// without it has the function too, which reports that. The worker's train calls it.
#pragma once

#include <memory>
#include <string>

#include "distributed/communicator.hpp"

namespace encore {

/// Returns "Open MPI 4.1.4", as it was loaded; empty if this build has no MPI.
std::string mpi_library();

/// Starts MPI, which ends with the communicator. Throws Error if the build has no MPI, if the loaded
/// library is not the one it was built with, and if mpirun has not started `ranks` processes that know each
/// other.
std::unique_ptr<Communicator> join_ranks(int ranks);

}  // namespace encore
