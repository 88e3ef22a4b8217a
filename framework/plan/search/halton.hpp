// SPDX-License-Identifier: BSD-3-Clause
// Computes a scrambled Halton sequence: points that fill a space more evenly than random ones. A. B. Owen, "A
// randomized Halton algorithm in R" (2017): the radical inverse of the number in a prime base for each
// dimension; every digit goes through a random permutation of its own. propose.cpp uses it.
#pragma once

#include <cstddef>
#include <cstdint>

namespace encore::search {

/// Returns coordinate `dimension` of point `number`, in [0, 1). It is a pure function of its arguments.
double halton(std::int64_t seed, std::int64_t number, std::size_t dimension);

}  // namespace encore::search
