// SPDX-License-Identifier: BSD-3-Clause
// Batching: what a batch has between its sequences, nothing or padding. Experiment files set it as an option
// of `train` (experiment.hpp); data/packed_batch.cpp lays batches out by it. The names are those of the
// option, so they never change.
#pragma once

#include <cstdint>

namespace encore::config {

/// `packed` has nothing between sequences. `padded` has padding after each one; it exists for comparisons.
enum class Batching : std::uint8_t { packed, padded };

}  // namespace encore::config
