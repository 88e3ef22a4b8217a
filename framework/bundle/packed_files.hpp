// SPDX-License-Identifier: BSD-3-Clause
// Which files of its runs a bundle takes: files_of_run, data_of_run and files_of_sources return the list,
// pack_bundle.cpp writes the files.
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
  all    ///< these, and every checkpoint that the run keeps
};

struct PackChoice {
  PackedWeights weights = PackedWeights::best;
  bool data = false;                                ///< the files that the runs read
  bool hidden = false;                              ///< files with examples of private data, too
  std::vector<std::filesystem::path> sources = {};  ///< folders with sources of plugins
};

struct PackedFile {
  std::string name;              ///< path in the bundle
  std::filesystem::path source;  ///< path on the disk
};

/// Returns the files of a run's folder: specification, spools, logs, vocabulary, labels, predictions,
/// weights. Missing ones are left out. Throws Error if a run that was started has no specification.
std::vector<PackedFile> files_of_run(store::Store& store, const store::RunRow& run, const PackChoice& choice,
                                     bool is_parent);
/// Returns the data files of a run, each content once. Throws Error if a file is missing or has changed.
std::vector<PackedFile> data_of_run(store::Store& store, const store::RunRow& run);
/// Returns the files of a folder with sources, except those that git ignores by convention: hidden ones and
/// build folders.
std::vector<PackedFile> files_of_sources(const std::filesystem::path& folder);

}  // namespace encore::bundle
