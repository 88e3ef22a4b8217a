// SPDX-License-Identifier: BSD-3-Clause
// Connects the ranks that mpirun, or a site's srun, has started, over MPI. Only mpi_communicator.cpp includes
// MPI; without_mpi.cpp has the same functions for a build without it. The worker's train calls them. Read
// communicator.hpp first.
#pragma once

#include <memory>
#include <string>

#include "distributed/communicator.hpp"

namespace encore::distributed {

/// Returns "Open MPI 4.1.4", as it was loaded; empty if this build has no MPI.
std::string mpi_library();

/// Starts MPI, which ends with the communicator. Throws Error if the build has no MPI, if the loaded library
/// is not the one it was built with, or if mpirun has not started `ranks` processes that can reach each
/// other.
std::unique_ptr<Communicator> join_ranks(int ranks);

}  // namespace encore::distributed
