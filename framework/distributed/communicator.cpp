// SPDX-License-Identifier: BSD-3-Clause
// Implements OneProcess, the communicator of a run with a single rank, and gather_texts() and from_first(),
// which work with any communicator because they use its collective calls only. train/ calls them. Read
// communicator.hpp first: it says which calls are collective; their order must stay equal on all ranks.
#include "distributed/communicator.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include <encore/error.hpp>

namespace encore::distributed {

void OneProcess::begin_exchange(std::span<const Outgoing> outgoing, std::span<const Incoming> incoming) {
  ENCORE_REQUIRE(outgoing.empty() && incoming.empty(), "one process has no peer to exchange with");
}

void OneProcess::gather(std::span<const std::byte> mine, std::span<std::byte> all) {
  ENCORE_REQUIRE(mine.size() == all.size(), "there is room for one part from each rank");
  std::ranges::copy(mine, all.begin());
}

void OneProcess::end_all(int exit_code) {
  std::_Exit(exit_code);
}

Communicator& only_rank() {
  static OneProcess process;
  return process;
}

std::vector<std::string> gather_texts(Communicator& ranks, const std::string& mine) {
  const auto count = static_cast<std::size_t>(ranks.size());
  const std::uint64_t size = mine.size();
  std::vector<std::uint64_t> sizes(count);
  ranks.gather(std::as_bytes(std::span(&size, 1)), std::as_writable_bytes(std::span(sizes)));
  const std::size_t longest = *std::ranges::max_element(sizes);
  std::string piece = mine, all(count * longest, '\0');
  piece.resize(longest);
  ranks.gather(std::as_bytes(std::span(piece)), std::as_writable_bytes(std::span(all)));
  std::vector<std::string> texts;
  for (std::size_t r = 0; r < count; ++r) texts.push_back(all.substr(r * longest, sizes[r]));
  return texts;
}

std::int64_t from_first(Communicator& ranks, std::int64_t value) {
  ranks.broadcast(std::as_writable_bytes(std::span(&value, 1)));
  return value;
}

}  // namespace encore::distributed
