// SPDX-License-Identifier: BSD-3-Clause
// BundleBudget limits what reading an untrusted bundle may cost in total: memory, disk and processor time.
// Each limit is far above any bundle that Encore makes; a bundle beyond one is refused with a message that
// names it. bundle_index.cpp and unpack_bundle.cpp check the claims of an archive before anything is written,
// bundle/check_bundle.cpp limits the reading of its database. SECURITY.md lists the tests. A limit may rise,
// but each must stay.
#pragma once

#include <cstddef>
#include <cstdint>

namespace encore::archive {

struct BundleBudget {
  /// Limits memory: the list of files is kept as a whole, some 400 bytes for each.
  std::size_t files = 100'000;
  /// Limits the entities of the metadata: files, runs, data and sources.
  std::size_t entities = 200'000;
  std::size_t metadata_bytes = std::size_t{32} << 20;

  /// Limits the disk, and what is hashed: `unpacked_ratio` times the archive if that is more than
  /// `unpacked_always`. Most of a small archive may be zeros.
  std::uint64_t unpacked_always = std::uint64_t{64} << 20;
  std::uint64_t unpacked_ratio = 1000;

  /// Limits the steps of SQLite's virtual machine for reading its database, and for merging its spools once
  /// more: at least `database_steps`, and more if database and spools are large. A row of 40 bytes takes
  /// about 300 in all.
  std::uint64_t database_steps = 100'000'000;
  std::uint64_t database_steps_per_byte = 200;
};

inline constexpr BundleBudget bundle_budget;

}  // namespace encore::archive
