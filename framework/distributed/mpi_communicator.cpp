// SPDX-License-Identifier: BSD-3-Clause
// The MPI implementation of Communicator, which join_ranks() makes for the worker. It cuts messages into
// chunks that MPI's int can count. It never lets MPI compute sums, because MPI chooses the order of additions
// and bits would depend on it. Read communicator.hpp first; builds without MPI compile without_mpi.cpp.
#include "distributed/communicator.hpp"

#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <thread>

#include <encore/error.hpp>

namespace encore::distributed {
namespace {

constexpr std::size_t largest_message = std::size_t(1) << 30;
constexpr auto patience = std::chrono::milliseconds(1);

/// Returns "Open MPI 4.1.4" for "Open MPI v4.1.4, package: Debian ...".
std::string loaded_library() {
  char text[MPI_MAX_LIBRARY_VERSION_STRING] = {};
  int length = 0;
  MPI_Get_library_version(text, &length);
  const std::string whole(text, static_cast<std::size_t>(length));
  std::string name = whole.substr(0, whole.find_first_of(",\n"));
  if (const std::size_t v = name.find(" v"); v != std::string::npos) name.erase(v + 1, 1);
  return name;
}

/// Returns the library of the headers, up to the part of the version that keeps its binary interface.
std::string built_with() {
#if defined(OMPI_MAJOR_VERSION)
  return "Open MPI " + std::to_string(OMPI_MAJOR_VERSION) + ".";
#else
  return "";
#endif
}

void require_own_library() {
  const std::string loaded = loaded_library();
  if (!loaded.starts_with(built_with()))
    throw Error(
        "this worker was built with " + built_with() + "x and runs with " + loaded +
        "; load the MPI that it was built with (a module of the site), or build it again with this one");
}

class MpiCommunicator final : public Communicator {
 public:
  MpiCommunicator() {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &size_);
  }
  ~MpiCommunicator() override { MPI_Finalize(); }
  MpiCommunicator(const MpiCommunicator&) = delete;
  MpiCommunicator& operator=(const MpiCommunicator&) = delete;

  int rank() const override { return rank_; }
  int size() const override { return size_; }
  std::string library() const override { return loaded_library(); }

  void begin_exchange(std::span<const Outgoing> outgoing, std::span<const Incoming> incoming) override {
    for (const Incoming& piece : incoming)
      in_pieces(piece.bytes, [&](std::span<std::byte> part, MPI_Request* request) {
        MPI_Irecv(part.data(), static_cast<int>(part.size()), MPI_BYTE, piece.from, 0, MPI_COMM_WORLD,
                  request);
      });
    for (const Outgoing& piece : outgoing)
      in_pieces(piece.bytes, [&](std::span<const std::byte> part, MPI_Request* request) {
        MPI_Isend(part.data(), static_cast<int>(part.size()), MPI_BYTE, piece.to, 0, MPI_COMM_WORLD, request);
      });
  }

  void advance() override {
    int all_done = 0;
    MPI_Testall(static_cast<int>(requests_.size()), requests_.data(), &all_done, MPI_STATUSES_IGNORE);
  }

  void finish_exchanges() override {
    MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE);
    requests_.clear();
  }

  void gather(std::span<const std::byte> mine, std::span<std::byte> all) override {
    ENCORE_REQUIRE(
        mine.size() * static_cast<std::size_t>(size_) == all.size() && mine.size() <= largest_message,
        "there is room for one part from each rank");
    MPI_Allgather(mine.data(), static_cast<int>(mine.size()), MPI_BYTE, all.data(),
                  static_cast<int>(mine.size()), MPI_BYTE, MPI_COMM_WORLD);
  }

  /// Works in place. MPI_Allgatherv counts in int, also the offsets, so exchange() sends a larger block.
  void share(std::span<std::byte> block, std::span<const std::size_t> borders) override {
    const auto count = static_cast<std::size_t>(size_), self = static_cast<std::size_t>(rank_);
    ENCORE_REQUIRE(borders.size() == count + 1 && borders.back() <= block.size(),
                   "every rank has a part of the block");
    if (borders.back() > largest_message) return share_in_pieces(block, borders);
    std::vector<int> counts, offsets;
    for (std::size_t r = 0; r < count; ++r) {
      counts.push_back(static_cast<int>(borders[r + 1] - borders[r]));
      offsets.push_back(static_cast<int>(borders[r]));
    }
    MPI_Allgatherv(MPI_IN_PLACE, counts[self], MPI_BYTE, block.data(), counts.data(), offsets.data(),
                   MPI_BYTE, MPI_COMM_WORLD);
  }

  void broadcast(std::span<std::byte> bytes) override {
    ENCORE_REQUIRE(bytes.size() <= largest_message, "a broadcast is short");
    MPI_Bcast(bytes.data(), static_cast<int>(bytes.size()), MPI_BYTE, 0, MPI_COMM_WORLD);
  }

  void wait_for_all() override {
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Ibarrier(MPI_COMM_WORLD, &request);
    for (int done = 0;;) {
      MPI_Test(&request, &done, MPI_STATUS_IGNORE);
      if (done != 0) return;
      std::this_thread::sleep_for(patience);
    }
  }

  void end_all(int exit_code) override {
    MPI_Abort(MPI_COMM_WORLD, exit_code);
    std::_Exit(exit_code);
  }

 private:
  template <class Byte, class Start>
  void in_pieces(std::span<Byte> bytes, const Start& start) {
    for (std::size_t begin = 0; begin < bytes.size(); begin += largest_message) {
      requests_.push_back(MPI_REQUEST_NULL);
      start(bytes.subspan(begin, std::min(largest_message, bytes.size() - begin)), &requests_.back());
    }
  }

  void share_in_pieces(std::span<std::byte> block, std::span<const std::size_t> borders) {
    const auto part = [&](int r) {
      const auto at = static_cast<std::size_t>(r);
      return block.subspan(borders[at], borders[at + 1] - borders[at]);
    };
    std::vector<Outgoing> outgoing;
    std::vector<Incoming> incoming;
    for (int r = 0; r < size_; ++r) {
      if (r == rank_) continue;
      outgoing.push_back({.to = r, .bytes = part(rank_)});
      incoming.push_back({.from = r, .bytes = part(r)});
    }
    exchange(outgoing, incoming);
  }

  int rank_ = 0, size_ = 1;
  std::vector<MPI_Request> requests_;
};

}  // namespace

std::string mpi_library() {
  return loaded_library();
}

std::unique_ptr<Communicator> join_ranks(int ranks) {
  require_own_library();
  int level = 0;
  MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &level);
  auto communicator = std::make_unique<MpiCommunicator>();
  if (communicator->size() != ranks)
    throw Error("the launcher has started " + std::to_string(communicator->size()) + " rank" +
                (communicator->size() == 1 ? "" : "s") + " where " + std::to_string(ranks) +
                " were asked for; it must be the launcher of " + loaded_library() +
                " (--mpirun COMMAND), and start as many processes as --ranks says");
  return communicator;
}

}  // namespace encore::distributed
