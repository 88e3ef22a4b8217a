// SPDX-License-Identifier: BSD-3-Clause
// Converts floating-point numbers of a file to another type; pretrained weights may be in half precision.
// load_parameters.cpp and infer/hugging_face_export.cpp call it if types differ. Host only.
// infer/hugging_face_export.cpp on the way out. Host only.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "record/safetensors.hpp"

namespace encore {

/// Returns true for float32, float64, bfloat16 and float16.
bool is_float(StoredType type);

/// Returns the numbers as `to`, each the nearest one, ties to even. `bytes` need no alignment. Throws Error
/// if a finite number would become an infinity.
std::vector<std::byte> convert_elements(StoredType from, std::span<const std::byte> bytes, StoredType to);

}  // namespace encore
