// Floating-point numbers of a file as numbers of another type: weights from elsewhere come in halves too, and
// may be written so. Place in the flow: load_parameters.cpp calls it where the types differ, and
// infer/hugging_face_export.cpp on the way out. Host only.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "record/safetensors.hpp"

namespace encore {

/// float32, float64, bfloat16 or float16.
bool is_float(StoredType type);

/// The numbers as `to`, each the nearest one, ties to even. `bytes` need no alignment. Throws Error where a
/// finite number would become an infinity.
std::vector<std::byte> convert_elements(StoredType from, std::span<const std::byte> bytes, StoredType to);

}  // namespace encore
