// Digests of the parameter block and the optimizer's states. One SHA-256 cannot be divided among threads, so
// whole blocks and single tensors are hashed beside each other.
#include "train/digests.hpp"

#include <cstring>
#include <optional>

#include "data/hash.hpp"
#include "data/parallel.hpp"
#include "train/ranks.hpp"

namespace encore {
namespace {

constexpr std::size_t tensor_digits = 16;

/// A block where the host can read it.
class HostBlock {
 public:
  HostBlock(const Device& device, Tensor block)
      : bytes_(static_cast<const std::byte*>(block.data), block.bytes()) {
    if (host_reaches_device()) return;
    copy_.resize(block.bytes());
    copy_to_host(device, block, copy_.data());
    bytes_ = copy_;
  }
  explicit HostBlock(std::vector<std::byte> copy) : bytes_(copy), copy_(std::move(copy)) {}

  /// Each byte is equal to the one before it, and the first is zero.
  bool is_zero() const {
    return !bytes_.empty() && bytes_[0] == std::byte{0} &&
           std::memcmp(bytes_.data(), bytes_.data() + 1, bytes_.size() - 1) == 0;
  }
  std::span<const std::byte> slice(const ParameterSlice& slice, DType dtype) const {
    const std::size_t element = size_of(dtype);
    return bytes_.subspan(static_cast<std::size_t>(slice.begin) * element,
                          static_cast<std::size_t>(slice.size) * element);
  }

 private:
  std::span<const std::byte> bytes_;
  std::vector<std::byte> copy_;
};

}  // namespace

std::vector<Digested> digest_blocks(const Model& model, std::int64_t step, bool with_tensors,
                                    Communicator& ranks) {
  const ParameterBlock& parameters = model.parameters();
  const std::vector<ParameterSlice>& slices = parameters.slices();
  const DType dtype = parameters.dtype();
  model.device().fence();
  std::vector<HostBlock> blocks;
  std::vector<Digested> digests;
  const auto add = [&](std::string scope, HostBlock block) {
    blocks.push_back(std::move(block));
    digests.push_back({.step = step, .scope = std::move(scope), .sha256 = ""});
  };
  add("parameters", HostBlock(model.device(), parameters.values()));
  for (std::size_t i = 0; i < parameters.state_names().size(); ++i) {
    const std::string scope = "optimizer/" + parameters.state_names()[i];
    if (ranks.size() == 1)
      add(scope, HostBlock(model.device(), parameters.state(i)));
    else if (std::vector<std::byte> state = gather_state(ranks, model, i); ranks.rank() == 0)
      add(scope, HostBlock(std::move(state)));
  }

  // States are zero before the first step, and have one digest.
  std::vector<std::size_t> hashed(blocks.size());
  std::optional<std::size_t> zeros;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const bool zero = i > 0 && blocks[i].is_zero();
    hashed[i] = zero ? zeros.value_or(i) : i;
    if (zero) zeros = hashed[i];
  }

  // The largest pieces first: all blocks, then each tensor of the first block.
  const std::size_t tensors = with_tensors ? slices.size() : 0;
  std::vector<std::string> hashes(blocks.size() + tensors);
  const auto hash_piece = [&](std::int64_t number) {
    const auto piece = static_cast<std::size_t>(number);
    if (piece < blocks.size() && hashed[piece] != piece) return;
    Sha256 hash;
    if (piece < blocks.size())
      for (const ParameterSlice& slice : slices) hash.add(blocks[piece].slice(slice, dtype));
    else
      hash.add(blocks.front().slice(slices[piece - blocks.size()], dtype));
    hashes[piece] = hash.hex();
  };
  run_pieces(static_cast<std::int64_t>(hashes.size()), host_threads(), hash_piece);

  for (std::size_t i = 0; i < blocks.size(); ++i) digests[i].sha256 = hashes[hashed[i]];
  for (std::size_t i = 0; i < tensors; ++i)
    digests.front().tensors[slices[i].path] = hashes[blocks.size() + i].substr(0, tensor_digits);
  return digests;
}

}  // namespace encore
