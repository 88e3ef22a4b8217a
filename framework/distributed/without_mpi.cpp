// What stands in for mpi_communicator.cpp in a build without MPI.
#include <encore/error.hpp>

#include "distributed/mpi_communicator.hpp"

namespace encore {

std::string mpi_library() {
  return "";
}

std::unique_ptr<Communicator> join_ranks(int ranks) {
  throw Error("--ranks " + std::to_string(ranks) +
              ": this worker was built without MPI; install Open MPI (Debian's packages are libopenmpi-dev "
              "and openmpi-bin) and build again (./exp setup), or train without --ranks");
}

}  // namespace encore
