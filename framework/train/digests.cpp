// Digests of the parameter block and the optimizer's states.
#include "train/digests.hpp"

#include "data/hash.hpp"

namespace encore {
namespace {

constexpr std::size_t tensor_digits = 16;

Digest digest(const Model& model, std::int64_t step, std::string scope, Tensor block, bool with_tensors) {
  std::vector<std::byte> host(block.bytes());
  copy_to_host(model.device(), block, host.data());
  Digest digest{step, std::move(scope), ""};
  Sha256 whole;
  const std::size_t element = size_of(block.dtype);
  for (const ParameterSlice& slice : model.parameters().slices()) {
    const auto bytes = std::span(host).subspan(static_cast<std::size_t>(slice.begin) * element,
                                               static_cast<std::size_t>(slice.size) * element);
    whole.add(bytes);
    if (!with_tensors) continue;
    Sha256 tensor;
    tensor.add(bytes);
    digest.tensors[slice.path] = tensor.hex().substr(0, tensor_digits);
  }
  digest.sha256 = whole.hex();
  return digest;
}

}  // namespace

std::vector<Digest> digest_blocks(const Model& model, std::int64_t step, bool with_tensors) {
  const ParameterBlock& parameters = model.parameters();
  std::vector<Digest> digests = {digest(model, step, "parameters", parameters.values(), with_tensors)};
  for (std::size_t i = 0; i < parameters.state_names().size(); ++i)
    digests.push_back(
        digest(model, step, "optimizer/" + parameters.state_names()[i], parameters.state(i), false));
  return digests;
}

}  // namespace encore
