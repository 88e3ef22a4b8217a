// SPDX-License-Identifier: BSD-3-Clause
// share_of(): a number in [0, 1) from a text, which looks like a random draw. serve/serve_monitor.cpp chooses
// by it the requests whose content is kept, monitor/shift_test.cpp breaks ties by it, and
// apply/application_sets.cpp rounds by it, equally on every machine and in every replay. It never changes,
// because stored samples depend on it.
#pragma once

#include <cstdint>
#include <string_view>

namespace encore::record {

/// Returns a number in [0, 1): the hash FNV-1a with the finalizer of SplitMix64.
inline double share_of(std::string_view text) {
  std::uint64_t hash = 0xCBF29CE484222325ULL;
  for (const char letter : text) hash = (hash ^ static_cast<unsigned char>(letter)) * 0x100000001B3ULL;
  hash = (hash ^ (hash >> 30)) * 0xBF58476D1CE4E5B9ULL;
  hash = (hash ^ (hash >> 27)) * 0x94D049BB133111EBULL;
  return static_cast<double>((hash ^ (hash >> 31)) >> 11) * 0x1p-53;
}

}  // namespace encore::record
