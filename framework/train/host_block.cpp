// SPDX-License-Identifier: BSD-3-Clause
// Implements digest_blocks() of host_block.hpp: hashes the parameter block and the optimizer's states. The
// Trainer calls it. One SHA-256 cannot be divided among threads, so blocks and tensors are hashed in
// parallel, each by one thread. Read host_block.hpp first.
#include "train/host_block.hpp"

#include <cstring>
#include <optional>

#include "base/parallel.hpp"
#include "base/sha256.hpp"
#include "train/ranks.hpp"

namespace encore::train {
namespace {

constexpr std::size_t tensor_digits = 16;

/// Returns whether all bytes are zero: each equals the one before it, and the first is zero.
bool is_zero(std::span<const std::byte> bytes) {
  return !bytes.empty() && bytes[0] == std::byte{0} &&
         std::memcmp(bytes.data(), bytes.data() + 1, bytes.size() - 1) == 0;
}

}  // namespace

std::vector<record::Digested> digest_blocks(const model::Model& model, std::int64_t step, bool with_tensors,
                                            distributed::Communicator& ranks) {
  const memory::ParameterBlock& parameters = model.parameters();
  const std::vector<memory::ParameterSlice>& slices = parameters.slices();
  std::vector<HostBlock> blocks;
  std::vector<record::Digested> digests;
  const auto add = [&](std::string scope, HostBlock block) {
    blocks.push_back(std::move(block));
    digests.push_back({.step = step, .scope = std::move(scope), .sha256 = ""});
  };
  add("parameters", HostBlock(model.device(), parameters.values()));
  for (std::size_t i = 0; i < parameters.state_names().size(); ++i) {
    const std::string scope = "optimizer/" + parameters.state_names()[i];
    if (HostBlock state = gather_state(ranks, model, i); ranks.rank() == 0) add(scope, std::move(state));
  }

  // Before the first step all states are zero and have the same digest, so one hash is enough.
  std::vector<std::size_t> hashed(blocks.size());
  std::optional<std::size_t> zeros;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const bool zero = i > 0 && is_zero(blocks[i].bytes());
    hashed[i] = zero ? zeros.value_or(i) : i;
    if (zero) zeros = hashed[i];
  }

  // The largest parts come first: all blocks, then the tensors of the first block.
  const std::size_t tensors = with_tensors ? slices.size() : 0;
  std::vector<std::string> hashes(blocks.size() + tensors);
  const auto hash_piece = [&](std::int64_t number) {
    const auto piece = static_cast<std::size_t>(number);
    if (piece < blocks.size() && hashed[piece] != piece) return;
    Sha256 hash;
    if (piece < blocks.size())
      for (const memory::ParameterSlice& slice : slices) hash.add(blocks[piece].slice(slice));
    else
      hash.add(blocks.front().slice(slices[piece - blocks.size()]));
    hashes[piece] = hash.hex();
  };
  run_parts(static_cast<std::int64_t>(hashes.size()), host_threads(), hash_piece);

  for (std::size_t i = 0; i < blocks.size(); ++i) digests[i].sha256 = hashes[hashed[i]];
  for (std::size_t i = 0; i < tensors; ++i)
    digests.front().tensors[slices[i].path] = hashes[blocks.size() + i].substr(0, tensor_digits);
  return digests;
}

}  // namespace encore::train
