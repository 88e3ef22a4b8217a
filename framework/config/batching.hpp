// SPDX-License-Identifier: BSD-3-Clause
// Batching says what stands between the sequences of a batch. Experiment files set it; data/packing reads it.
#pragma once

#include <cstdint>

namespace encore {

/// `packed` puts nothing between sequences. `padded` adds padding behind each one; it exists for comparisons.
enum class Batching : std::uint8_t { packed, padded };

}  // namespace encore
