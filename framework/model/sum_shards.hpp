// The loss of a batch from those of its shards.
#pragma once

#include <cstdint>

#include <encore/device.hpp>

namespace encore {

/// total = scale * (losses[0] + losses[1] + ...), in the order of the shards; all in device memory.
void sum_shards(const Device& device, const double* losses, std::int64_t count, double scale, double* total);

}  // namespace encore
