// SPDX-License-Identifier: BSD-3-Clause
// Converts floating-point numbers of a file to another type, on the host only. load_parameters.cpp calls it
// for pretrained weights whose type is not that of the parameters, infer/hugging_face_export.cpp for an
// export with --dtype.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "record/safetensors.hpp"

namespace encore::model {

/// Returns true for float32, float64, bfloat16 and float16.
bool is_float(record::StoredType type);

/// Returns the numbers as `to`, each the nearest one, ties to even. `bytes` need no alignment. Throws Error
/// if a finite number would become an infinity.
std::vector<std::byte> convert_elements(record::StoredType from, std::span<const std::byte> bytes,
                                        record::StoredType to);

}  // namespace encore::model
