// Digests of the parameter block and the optimizer's states.
#include "train/digests.hpp"

#include "data/hash.hpp"

namespace encore {
namespace {

std::string digest(const Model& model, Tensor block) {
  std::vector<std::byte> host(block.bytes());
  copy_to_host(model.device(), block, host.data());
  Sha256 sha256;
  const std::size_t element = size_of(block.dtype);
  for (const ParameterSlice& slice : model.parameters().slices())
    sha256.add(std::span(host).subspan(static_cast<std::size_t>(slice.begin) * element,
                                       static_cast<std::size_t>(slice.size) * element));
  return sha256.hex();
}

}  // namespace

std::vector<std::pair<std::string, std::string>> digest_blocks(const Model& model) {
  const ParameterBlock& parameters = model.parameters();
  std::vector<std::pair<std::string, std::string>> digests = {
      {"parameters", digest(model, parameters.values())}};
  for (std::size_t i = 0; i < parameters.state_names().size(); ++i)
    digests.emplace_back("optimizer/" + parameters.state_names()[i], digest(model, parameters.state(i)));
  return digests;
}

}  // namespace encore
