// SPDX-License-Identifier: BSD-3-Clause
// work_of(): counts what a call does, equally on every machine and at every load: the blocks of code that it
// runs, the bytes that it copies or compares through the C library, and the memory that it takes. linear.hpp
// calls it for every test of this folder, to show that reading hostile input takes work in proportion to its
// size; the limits of these tests are in these units, so a change of what counts changes them. The compiler
// puts a call of the counter into each basic block of the sources that are compiled for these tests
// (-fsanitize-coverage=trace-pc, CMakeLists.txt); work_counter.cpp replaces malloc, memcpy and similar
// functions in the whole program. Code blocks inside libraries (SQLite, zstd, SentencePiece, OpenSSL) are not
// counted, but the memory that they allocate and the bytes that they copy are.
#pragma once

#include <cstdint>
#include <functional>

namespace encore::bounds {

struct Work {
  std::uint64_t steps = 0;      ///< blocks of code, and one for each 8 bytes that were copied or compared
  std::uint64_t peak = 0;       ///< bytes that were held at once beyond those held before
  std::uint64_t allocated = 0;  ///< bytes in all, including those that were freed again
};

/// Returns the work of all threads while `call` runs; exceptions of `call` pass through.
Work work_of(const std::function<void()>& call);

}  // namespace encore::bounds
