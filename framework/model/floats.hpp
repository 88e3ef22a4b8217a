// A tensor of the device as numbers on the host, whatever its type. Place in the flow: who reads states,
// logits or tables of a model outside of passes, such as infer/word_vectors.cpp.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include <encore/device.hpp>
#include <encore/tensor.hpp>

namespace encore {

/// Its elements in order, rounded to nearest where they are doubles. Waits for the device.
std::vector<float> floats_of(const Device& device, Tensor tensor);
/// The same, all digits kept.
std::vector<double> doubles_of(const Device& device, Tensor tensor);

/// floats_of again and again, in memory that is kept.
class FloatReader {
 public:
  /// Valid until the next call.
  std::span<const float> read(const Device& device, Tensor tensor);

 private:
  std::vector<std::byte> elements_;  ///< of another type
  std::vector<float> floats_;
};

}  // namespace encore
