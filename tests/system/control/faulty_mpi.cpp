// SPDX-License-Identifier: BSD-3-Clause
// A library in front of MPI, for rank_faults_test.cpp: it does what MPI must not do. mpirun has ranks load it
// (-x LD_PRELOAD); it calls the PMPI functions, which every MPI has beside its own. $FAULTY_MPI chooses the
// fault. It follows the calls of framework/distributed, so a change of the exchanges there needs a change
// here:
//   order    in an exchange, the first part of the first and of the last sender change places, so that the
//            owner of a range adds the shards in another order
//   bit      the parameters that rank 1 receives have one wrong bit, once
//   version  it reports another version of Open MPI
//   slow     rank 1 is late in every exchange, by a different time each
//   hold:R:S:C  rank R stops at call C of those below after S steps
#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

namespace {

struct Piece {
  char* bytes;
  int count, from;
};
std::vector<Piece> received;
int sent = 0, blocks = 0, calls = 0;

bool asked_for(const char* fault) {
  const char* wanted = std::getenv("FAULTY_MPI");
  return wanted != nullptr && std::strcmp(wanted, fault) == 0;
}

/// Delays or stops this rank as $FAULTY_MPI says. Each step shares two blocks: the squares of chunks and the
/// parameters.
void wait_where_asked(MPI_Comm ranks) {
  const char* fault = std::getenv("FAULTY_MPI");
  int held = 0, step = 0, call = 0, rank = 0;
  PMPI_Comm_rank(ranks, &rank);
  if (asked_for("slow") && rank == 1) std::this_thread::sleep_for(std::chrono::milliseconds(1 + calls++ % 7));
  if (fault == nullptr || std::sscanf(fault, "hold:%d:%d:%d", &held, &step, &call) != 3) return;
  if (rank == held && blocks / 2 >= step && calls++ == call) std::raise(SIGSTOP);
}

const Piece* first_from(int rank) {
  const auto found =
      std::find_if(received.begin(), received.end(), [&](const Piece& piece) { return piece.from == rank; });
  return found == received.end() ? nullptr : &*found;
}

void change_places() {
  const auto by_sender = [](const Piece& a, const Piece& b) { return a.from < b.from; };
  const auto [least, most] = std::minmax_element(received.begin(), received.end(), by_sender);
  if (least == received.end() || least->from == most->from) return;
  const Piece *a = first_from(least->from), *b = first_from(most->from);
  if (a->count == b->count) std::swap_ranges(a->bytes, a->bytes + a->count, b->bytes);
}

}  // namespace

extern "C" {

int MPI_Irecv(void* bytes, int count, MPI_Datatype type, int from, int tag, MPI_Comm ranks,
              MPI_Request* request) {
  wait_where_asked(ranks);
  received.push_back({static_cast<char*>(bytes), count, from});
  return PMPI_Irecv(bytes, count, type, from, tag, ranks, request);
}

int MPI_Isend(const void* bytes, int count, MPI_Datatype type, int to, int tag, MPI_Comm ranks,
              MPI_Request* request) {
  wait_where_asked(ranks);
  ++sent;
  return PMPI_Isend(bytes, count, type, to, tag, ranks, request);
}

int MPI_Waitall(int count, MPI_Request requests[], MPI_Status statuses[]) {
  const int result = PMPI_Waitall(count, requests, statuses);
  // A rank that receives without having sent collects a state of the optimizer, which is not a sum.
  if (sent > 0 && asked_for("order")) change_places();
  received.clear();
  sent = 0;
  return result;
}

int MPI_Allgatherv(const void* mine, int count, MPI_Datatype type, void* all, const int counts[],
                   const int offsets[], MPI_Datatype all_type, MPI_Comm ranks) {
  wait_where_asked(ranks);
  const int result = PMPI_Allgatherv(mine, count, type, all, counts, offsets, all_type, ranks);
  int rank = 0;
  PMPI_Comm_rank(ranks, &rank);
  // The squares of chunks are shared first in each step, then the parameters: these are of the third step.
  ++blocks;
  if (asked_for("bit") && rank == 1 && blocks == 6) *static_cast<unsigned char*>(all) ^= 1U;
  return result;
}

int MPI_Get_library_version(char* text, int* length) {
  const int result = PMPI_Get_library_version(text, length);
  if (!asked_for("version")) return result;
  const std::string other = "Open MPI v99.1.0, package: of a test";
  std::strcpy(text, other.c_str());
  *length = static_cast<int>(other.size());
  return result;
}

}  // extern "C"
