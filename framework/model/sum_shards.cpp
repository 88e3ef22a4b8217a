// SPDX-License-Identifier: BSD-3-Clause
// Implements sum_shards(): adds the losses of the shards on the device, in one thread, so that their order is
// fixed. Model calls it at the end of a training step and of an evaluation. Read sum_shards.hpp first.
#include "model/sum_shards.hpp"

#include <encore/head.hpp>
#include <encore/space.hpp>

namespace encore::model {

void sum_shards(const Device& device, const double* sums, std::int64_t shards, std::span<const double> scales,
                double* totals) {
  ENCORE_REQUIRE(scales.size() <= most_losses, "a head has at most most_losses losses");
  Kokkos::Array<double, most_losses> factors = {};
  for (std::size_t loss = 0; loss < scales.size(); ++loss) factors[loss] = scales[loss];
  const auto losses = static_cast<std::int64_t>(scales.size());
  Kokkos::parallel_for(
      "encore::sum_shards", Kokkos::RangePolicy<ExecutionSpace>(device.space(), 0, 1), KOKKOS_LAMBDA(int) {
        double all = 0.0;
        for (std::int64_t loss = 0; loss < losses; ++loss) {
          double sum = 0.0;
          for (std::int64_t shard = 0; shard < shards; ++shard) sum += sums[shard * losses + loss];
          totals[loss] = factors[static_cast<std::size_t>(loss)] * sum;
          all = loss == 0 ? totals[0] : all + totals[loss];
        }
        totals[losses] = all;
      });
}

}  // namespace encore::model
