// SPDX-License-Identifier: BSD-3-Clause
// Lists the files that a bundle takes: files_of_run(), data_of_run() and files_of_sources() return names in
// the bundle and paths on disk; pack_bundle.cpp calls them and writes the files. The names follow the layout
// of archive/bundle_index.hpp: check_bundle.cpp refuses a file that it does not know, so a new kind of file
// needs a change there too.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "store/store.hpp"

namespace encore::bundle {

enum class PackedWeights : std::uint8_t {
  none,
  best,  ///< the parameters of the best checkpoint
  all    ///< these, and every checkpoint that is still on disk
};

/// What the user wants in the bundle (options of `exp bundle`).
struct PackChoice {
  PackedWeights weights = PackedWeights::best;
  bool data = false;    ///< the files that the runs read
  bool hidden = false;  ///< --private: also files with examples or words of private data
  std::vector<std::filesystem::path> sources = {};  ///< folders with sources of plugins
};

struct PackedFile {
  std::string name;              ///< path in the bundle
  std::filesystem::path source;  ///< path on the disk
};

/// Returns the files of a run's folder: specification, spools, logs, vocabulary, labels, predictions,
/// weights. Missing ones are left out. `is_parent`: another packed run starts or learns from this one, so its
/// best weights are taken even with PackedWeights::none. Throws Error if a run that was started has no
/// specification.
std::vector<PackedFile> files_of_run(store::Store& store, const store::RunRow& run, const PackChoice& choice,
                                     bool is_parent);
/// Returns the data files of a run, each content once. Throws Error if a file is missing or has changed.
std::vector<PackedFile> data_of_run(store::Store& store, const store::RunRow& run);
/// Returns the files of a folder with sources, except those that git ignores by convention: hidden ones and
/// build folders. Sorted by name. Throws Error if there are none.
std::vector<PackedFile> files_of_sources(const std::filesystem::path& folder);

}  // namespace encore::bundle
