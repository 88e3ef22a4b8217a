// What stands between the sequences of a batch; named in an experiment file, obeyed by data/packing.
#pragma once

#include <cstdint>

namespace encore {

/// `packed`: nothing. `padded`: after each sequence, padding; only there to compare.
enum class Batching : std::uint8_t { packed, padded };

}  // namespace encore
