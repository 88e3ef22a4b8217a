// SPDX-License-Identifier: BSD-3-Clause
// Implements LaidOutWeights: collects the matrices of a network that products read, and converts each to the
// layout of its library, again after the values have changed. Model and Generation call refresh() before
// passes without gradients. Read laid_out_weights.hpp first.
#include "model/laid_out_weights.hpp"

#include <set>

namespace encore::model {

std::map<std::string, LaidOutWeight> product_weights_of(const Network& network,
                                                        const memory::ParameterBlock& parameters) {
  std::map<std::string, LaidOutWeight> weights;
  for (const Node& node : network.nodes())
    for (const ParameterSpec& spec : node.plan.parameters()) {
      if (spec.shape.size() != 2 || spec.element != Element::activation || spec.token_rows) continue;
      const memory::ParameterSlice& slice = parameters.find(path_of(node, spec));
      weights[slice.path] = {.seen = parameters.seen_by_passes(slice, spec.element),
                             .values = parameters.adapted(slice)};
    }
  return weights;
}

LaidOutWeights::LaidOutWeights(const Device& device, const memory::ParameterBlock& parameters,
                               const std::vector<LaidOutWeight>& weights)
    : device_(device), parameters_(parameters) {
  std::set<const void*> known;
  std::size_t bytes = 0;
  std::vector<std::pair<Tensor, std::size_t>>
      places;  // the matrix as passes see it, and the first byte of its layout
  for (const LaidOutWeight& weight : weights) {
    const std::size_t more = weight.library->layout_bytes(weight.values);
    if (more == 0 || !known.insert(weight.seen.data).second) continue;
    laid_out_.push_back({weight.values, weight.library});
    places.emplace_back(weight.seen, bytes);
    bytes += memory::aligned(more);
  }
  memory_ = memory::DeviceBuffer("encore::laid_out_weights", bytes, memory::Contents::undefined);
  for (std::size_t i = 0; i < laid_out_.size(); ++i) {
    laid_out_[i].data = memory_.data() + places[i].second;
    layouts_.add(places[i].first, laid_out_[i].data, laid_out_[i].library);
  }
}

void LaidOutWeights::refresh() {
  if (version_ == parameters_.version()) return;
  version_ = parameters_.version();
  for (const Layout& layout : laid_out_) layout.library->lay_out(device_, layout.values, layout.data);
}

}  // namespace encore::model
