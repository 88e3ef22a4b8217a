// Floating-point numbers of a file as numbers of another type: weights from elsewhere come in halves too.
// Place in the flow: load_parameters.cpp calls it where the types differ. Host only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "record/safetensors.hpp"

namespace encore {

/// float32, float64, bfloat16 or float16.
bool is_float(StoredType type);

/// The value of a number of IEEE 754 binary16, exactly; a NaN stays one.
float float_of_half(std::uint16_t bits);

/// The numbers as `to`, float32 or float64: exact, but for float64 to float32, which rounds to nearest.
/// `bytes` need no alignment.
std::vector<std::byte> convert_elements(StoredType from, std::span<const std::byte> bytes, DType to);

}  // namespace encore
