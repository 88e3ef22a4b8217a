// SPDX-License-Identifier: BSD-3-Clause
// Communicator exchanges bytes between the processes ("ranks") that train one run together. It has two
// implementations: OneProcess, and MPI, which join_ranks() returns. The worker makes one; train/ranks.hpp and
// train/gradient_exchange.hpp decide what is sent. Code below train/ does not know about ranks.
//
// The interface must serve its two most different users:
//   SGD on a host: one state, updated element by element. Any cut between two chunks is a border between
//   owners; gradients are read where `backward` left them and values are shared in place, without a copy.
//   LAMB with clipping on a GPU, with a table of tokens: a norm per parameter, so borders lie between
//   parameters only; the norm of the gradient needs every chunk's part in chunk order before any update;
//   of the table only the rows of the batch travel; all of it passes through host memory first.
// Both fit because a Communicator moves bytes of host memory between places that the caller names. It never
// adds, because MPI_Reduce chooses its own order of sums, and it knows neither types nor devices.
//
// Every call but rank(), size(), library(), advance() and end_all() is collective: all ranks make the same
// calls in the same order, from the thread that made the communicator. A buffer belongs to the call until it
// returns, and to begin_exchange() until finish_exchanges() has returned.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace encore::distributed {

/// Bytes for another rank.
struct Outgoing {
  int to = 0;  ///< its rank
  std::span<const std::byte> bytes;
};
/// Memory for the bytes that another rank sends; its size is exactly theirs.
struct Incoming {
  int from = 0;  ///< its rank
  std::span<std::byte> bytes;
};

class Communicator {
 public:
  virtual ~Communicator() = default;

  /// Returns the number of this rank, from 0. Rank 0 writes the files of the run.
  virtual int rank() const = 0;
  virtual int size() const = 0;  ///< number of ranks
  /// Returns the library and its version, such as "Open MPI 4.1.4"; "one process".
  virtual std::string library() const = 0;

  /// Exchanges any number of chunks of bytes between ranks. The chunks of a pair arrive in the order of the
  /// lists, so sender and receiver list them alike. No chunk is for the rank itself.
  void exchange(std::span<const Outgoing> outgoing, std::span<const Incoming> incoming) {
    begin_exchange(outgoing, incoming);
    finish_exchanges();
  }

  // The next three calls do what exchange() does, while the caller computes. Each pair of ranks lists its
  // chunks alike; each rank decides how many of them it passes to one call of begin_exchange(). No other call
  // comes before finish_exchanges().

  /// Returns before the bytes have arrived.
  virtual void begin_exchange(std::span<const Outgoing> outgoing, std::span<const Incoming> incoming) = 0;
  /// Moves the bytes that can move now, and returns soon. An MPI library without a thread of its own moves
  /// nothing between calls.
  virtual void advance() = 0;
  /// Waits until everything that was begun has arrived.
  virtual void finish_exchanges() = 0;

  /// Fills `all` (size() chunks, each as long as `mine`) with the chunks of all ranks, by rank.
  virtual void gather(std::span<const std::byte> mine, std::span<std::byte> all) = 0;
  /// Sends each rank's part of `block` to all: rank r has filled bytes [borders[r], borders[r + 1]).
  virtual void share(std::span<std::byte> block, std::span<const std::size_t> borders) = 0;
  /// Overwrites `bytes` with those of rank 0.
  virtual void broadcast(std::span<std::byte> bytes) = 0;
  /// Waits until all ranks have come here. It sleeps, while the other calls spin: use it for long waits.
  virtual void wait_for_all() = 0;

  /// Ends this process and all other ranks at once, also those that wait for it.
  [[noreturn]] virtual void end_all(int exit_code) = 0;
};

/// The communicator of a single rank.
class OneProcess final : public Communicator {
 public:
  int rank() const override { return 0; }
  int size() const override { return 1; }
  std::string library() const override { return "one process"; }
  void begin_exchange(std::span<const Outgoing> outgoing, std::span<const Incoming> incoming) override;
  void advance() override {}
  void finish_exchanges() override {}
  void gather(std::span<const std::byte> mine, std::span<std::byte> all) override;
  void share(std::span<std::byte>, std::span<const std::size_t>) override {}
  void broadcast(std::span<std::byte>) override {}
  void wait_for_all() override {}
  [[noreturn]] void end_all(int exit_code) override;
};

/// Returns the communicator of a run with one process. It has no state.
Communicator& only_rank();

/// Returns the text of each rank, by rank, on every rank.
std::vector<std::string> gather_texts(Communicator& ranks, const std::string& mine);
/// Returns the value that rank 0 has.
std::int64_t from_first(Communicator& ranks, std::int64_t value);

// The library encore_mpi has the next two functions, and only mpi_communicator.cpp includes MPI. A build
// without MPI takes without_mpi.cpp instead. The worker calls them.

/// Returns "Open MPI 4.1.4", as it was loaded; empty if this build has no MPI.
std::string mpi_library();

/// Starts MPI, which ends with the communicator. Throws Error if the build has no MPI, if the loaded library
/// is not the one it was built with, or if mpirun has not started `ranks` processes that can reach each
/// other.
std::unique_ptr<Communicator> join_ranks(int ranks);

}  // namespace encore::distributed
