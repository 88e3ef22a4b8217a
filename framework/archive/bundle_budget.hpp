// What reading a bundle of somebody else may cost in all: memory, disk and processor time. Each limit is far
// above any bundle that Encore makes; beyond one the bundle is refused with a message that names it.
// SECURITY.md lists the tests. Place in the flow: bundle_index.cpp and unpack_bundle.cpp look at what an
// archive says of itself before anything is written, bundle/check_bundle.cpp at what its database takes to be
// read.
#pragma once

#include <cstddef>
#include <cstdint>

namespace encore {

struct BundleBudget {
  /// Memory: the list of files is kept as a whole, some 400 bytes for each.
  std::size_t files = 100'000;
  /// Entities of the metadata: files, runs, data and sources.
  std::size_t entities = 200'000;
  std::size_t metadata_bytes = std::size_t{32} << 20;

  /// Disk, and what has to be hashed: `unpacked_ratio` times the archive where that is more than
  /// `unpacked_always`. A small archive may be of zeros for the most part.
  std::uint64_t unpacked_always = std::uint64_t{64} << 20;
  std::uint64_t unpacked_ratio = 1000;

  /// Steps of SQLite's virtual machine for reading its database, and for merging its spools once more: at
  /// least `database_steps`, and more where database and spools are large. A row of 40 bytes takes about 300
  /// in all.
  std::uint64_t database_steps = 100'000'000;
  std::uint64_t database_steps_per_byte = 200;
};

inline constexpr BundleBudget bundle_budget;

}  // namespace encore
