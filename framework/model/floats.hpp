// SPDX-License-Identifier: BSD-3-Clause
// Floating-point numbers on the host. floats_of() and FloatReader read a tensor of the device, whatever its
// type, for code that reads states, logits or tables of a model outside of passes, such as
// infer/word_vectors.cpp. convert_elements() converts numbers of a file to another type: load_parameters.cpp
// calls it for pretrained weights whose type is not that of the parameters, infer/hugging_face_export.cpp for
// an export with --dtype. Each number is rounded once, to nearest; this must stay.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include <encore/device.hpp>
#include <encore/tensor.hpp>

#include "record/safetensors.hpp"

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

/// Returns true for float32, float64, bfloat16 and float16.
bool is_float(record::StoredType type);

/// Returns the numbers as `to`, each the nearest one, ties to even. `bytes` need no alignment. Throws Error
/// if a finite number would become an infinity.
std::vector<std::byte> convert_elements(record::StoredType from, std::span<const std::byte> bytes,
                                        record::StoredType to);

}  // namespace encore::model
