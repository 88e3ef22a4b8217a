// SPDX-License-Identifier: BSD-3-Clause
// Collective calls that keep the ranks (processes) of one run equal: gathered optimizer states, comparisons,
// requests. Every rank must make the same calls in the same order. Read ranks.hpp first, which says when.
#include "train/ranks.hpp"

#include <unistd.h>

#include <algorithm>

namespace encore::train {
namespace {

std::string rank_text(int rank, const std::string& host) {
  return "rank " + std::to_string(rank) + (host.empty() ? "" : " (" + host + ")");
}

std::string own_host() {
  char name[256] = {};
  return ::gethostname(name, sizeof name - 1) == 0 ? name : "";
}

}  // namespace

HostBlock gather_state(distributed::Communicator& ranks, const model::Model& model, std::size_t state) {
  const memory::ParameterBlock& parameters = model.parameters();
  const std::size_t element = size_of(parameters.dtype());
  HostBlock mine(model.device(), parameters.state(state));
  const auto count = static_cast<std::size_t>(ranks.size());
  std::vector<memory::BlockRange> owned(count);
  ranks.gather(std::as_bytes(std::span(&parameters.owned(), 1)), std::as_writable_bytes(std::span(owned)));
  const std::size_t bytes = static_cast<std::size_t>(parameters.extent()) * element;
  if (mine.bytes().size() == bytes)  // every rank has all of the state
    return ranks.rank() == 0 ? std::move(mine) : HostBlock();
  if (ranks.rank() != 0) {
    const distributed::Outgoing part{.to = 0, .bytes = mine.bytes()};
    ranks.exchange(std::span(&part, mine.bytes().empty() ? 0 : 1), {});
    return {};
  }
  std::vector<std::byte> whole(bytes);
  std::vector<distributed::Incoming> parts;
  const auto place = [&](const memory::BlockRange& range) {
    return std::span(whole).subspan(static_cast<std::size_t>(range.begin) * element,
                                    static_cast<std::size_t>(range.size()) * element);
  };
  for (std::size_t r = 1; r < count; ++r)
    if (owned[r].size() > 0) parts.push_back({.from = static_cast<int>(r), .bytes = place(owned[r])});
  std::ranges::copy(mine.bytes(), place(owned.front()).begin());
  ranks.exchange({}, parts);
  return {std::move(whole), parameters.dtype()};
}

void require_equal_ranks(distributed::Communicator& ranks, const record::Digested& digest) {
  if (ranks.size() == 1) return;
  const std::vector<std::string> hashes = distributed::gather_texts(ranks, digest.sha256);
  const auto other = std::ranges::find_if(hashes, [&](const std::string& h) { return h != hashes.front(); });
  if (other == hashes.end()) return;
  const auto r = static_cast<std::size_t>(other - hashes.begin());
  const std::vector<std::string> hosts = distributed::gather_texts(ranks, own_host());
  std::string tensor;
  for (const auto& [path, hash] : digest.tensors) {
    const std::vector<std::string> all = distributed::gather_texts(ranks, hash);
    if (tensor.empty() && all[r] != all.front()) tensor = path;
  }
  throw Error(
      "after step " + std::to_string(digest.step) + " the parameters of " +
      rank_text(static_cast<int>(r), hosts[r]) + " have other bits than those of " +
      rank_text(0, hosts.front()) + (tensor.empty() ? "" : ", first in " + tensor) +
      "; one of the two has computed a wrong result. Check the memory of both machines, and train again "
      "(exp retry FILE --failed) without the one that differs");
}

void require_equal_texts(distributed::Communicator& ranks, const std::string& what, const std::string& text) {
  if (ranks.size() == 1) return;
  const std::vector<std::string> all = distributed::gather_texts(ranks, text),
                                 hosts = distributed::gather_texts(ranks, own_host());
  for (std::size_t r = 1; r < all.size(); ++r)
    if (all[r] != all.front())
      throw Error(what + " of " + rank_text(static_cast<int>(r), hosts[r]) + " differs from that of " +
                  rank_text(0, hosts.front()) + ", so that their bits may differ:\n  " + all[r] + "\n  " +
                  all.front() + "\nRun all ranks on machines of one kind, with the same build");
}

Request SharedControl::poll() {
  const Request own = control_ != nullptr ? control_->poll() : Request::none;
  return static_cast<Request>(distributed::from_first(ranks_, static_cast<std::int64_t>(own)));
}

}  // namespace encore::train
