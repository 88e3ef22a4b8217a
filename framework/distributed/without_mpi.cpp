// SPDX-License-Identifier: BSD-3-Clause
// Replaces mpi_communicator.cpp in a build without MPI: mpi_library() returns "" and join_ranks() throws the
// message that users of --ranks read. CMakeLists.txt chooses between the two files. Read communicator.hpp
// first.
#include <encore/error.hpp>

#include "distributed/communicator.hpp"

namespace encore::distributed {

std::string mpi_library() {
  return "";
}

std::unique_ptr<Communicator> join_ranks(int ranks) {
  throw Error("--ranks " + std::to_string(ranks) +
              ": this worker was built without MPI; build it again with ./exp build --mpi, or train without "
              "--ranks");
}

}  // namespace encore::distributed
