// SPDX-License-Identifier: BSD-3-Clause
// RandomBlock draws random words in blocks on the host, so that loops are vectorised: one loop only draws,
// and one for each run of values uses the words. A block is always drawn whole, so that its length is known
// to the compiler. dropout_rows.hpp and initialize.cpp use it. The words must equal those of Random
// (encore/random.hpp), on which the bits of all runs depend.
#pragma once

#include <encore/random.hpp>

#if ENCORE_HOST_BACKEND

namespace encore::kernels {

template <int Size>
struct RandomBlock {
  static constexpr int size = Size;  // counters

  std::uint32_t words[4][size];

  /// Sets words[k][i]: word k of counter first + i. `random` is a copy, which cannot alias the words.
  KOKKOS_FORCEINLINE_FUNCTION void draw(const Random random, std::int64_t example, std::uint32_t position,
                                        std::uint32_t first) {
    ENCORE_SIMD
    for (int i = 0; i < size; ++i) {
      const RandomWords drawn = random.words(example, position, first + static_cast<std::uint32_t>(i));
      words[0][i] = drawn.word[0];  // written out: a lambda that captures `drawn` keeps it in memory
      words[1][i] = drawn.word[1];
      words[2][i] = drawn.word[2];
      words[3][i] = drawn.word[3];
    }
  }
};

}  // namespace encore::kernels

#endif
