#include "model/laid_out_weights.hpp"

#include <set>

namespace encore {

LaidOutWeights::LaidOutWeights(const Device& device, const ParameterBlock& parameters,
                               std::vector<Tensor> weights)
    : device_(device), parameters_(parameters) {
  std::set<const void*> known;
  std::size_t bytes = 0;
  std::vector<std::size_t> begins;
  for (const Tensor& weight : weights) {
    const std::size_t more = device.gemm().layout_bytes(weight);
    if (more == 0 || !known.insert(weight.data).second) continue;
    laid_out_.push_back({weight});
    begins.push_back(bytes);
    bytes += aligned(more);
  }
  memory_ = DeviceBuffer("encore::laid_out_weights", bytes, Contents::undefined);
  for (std::size_t i = 0; i < laid_out_.size(); ++i) {
    laid_out_[i].data = memory_.data() + begins[i];
    layouts_.add(laid_out_[i].weight, laid_out_[i].data);
  }
}

void LaidOutWeights::refresh() {
  if (version_ == parameters_.version()) return;
  version_ = parameters_.version();
  for (const Layout& layout : laid_out_) device_.gemm().lay_out(device_, layout.weight, layout.data);
}

}  // namespace encore
