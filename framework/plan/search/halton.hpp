// SPDX-License-Identifier: BSD-3-Clause
// halton(): a scrambled Halton sequence: points that fill a space more evenly than random ones. The
// coordinate is the radical inverse of the point's number in a prime base for each dimension, with a random
// permutation of each digit (A. B. Owen, "A randomized Halton algorithm in R", 2017). propose.cpp uses it for
// the method quasi_random. Points of stored searches are computed again, so it never changes.
#pragma once

#include <cstddef>
#include <cstdint>

namespace encore::plan::search {

/// Returns coordinate `dimension` of point `number`, in [0, 1). It is a pure function of its arguments.
double halton(std::int64_t seed, std::int64_t number, std::size_t dimension);

}  // namespace encore::plan::search
