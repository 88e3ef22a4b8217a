// SPDX-License-Identifier: BSD-3-Clause
// Reads a tensor of the device as numbers on the host, whatever its type. Code that reads states, logits or
// tables of a model outside of passes uses it, such as infer/word_vectors.cpp.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include <encore/device.hpp>
#include <encore/tensor.hpp>

namespace encore::model {

/// Returns the elements of a tensor in order, doubles rounded to nearest. Waits for the device.
std::vector<float> floats_of(const Device& device, Tensor tensor);
/// Returns the elements of a tensor as doubles, with all digits. Waits for the device.
std::vector<double> doubles_of(const Device& device, Tensor tensor);

/// Reads tensors like floats_of(), and keeps its memory from call to call.
class FloatReader {
 public:
  /// Returns numbers that are valid until the next call.
  std::span<const float> read(const Device& device, Tensor tensor);

 private:
  std::vector<std::byte> elements_;  ///< of another type
  std::vector<float> floats_;
};

}  // namespace encore::model
