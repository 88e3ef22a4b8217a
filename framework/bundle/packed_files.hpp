// Which files of the runs a bundle takes. Place in the flow: pack_bundle.cpp asks and writes them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "store/store.hpp"

namespace encore {

enum class PackedWeights : std::uint8_t {
  none,
  best,  ///< the parameters that a run has chosen
  all    ///< and every checkpoint that it keeps
};

struct PackChoice {
  PackedWeights weights = PackedWeights::best;
  bool data = false;                                ///< the files that the runs read
  bool hidden = false;                              ///< what holds texts of data that are marked private, too
  std::vector<std::filesystem::path> sources = {};  ///< folders with sources of plugins
};

struct PackedFile {
  std::string name;              ///< in the bundle
  std::filesystem::path source;  ///< on the disk
};

/// Of the folder of a run: specification, spools, logs, vocabulary, labels, predictions, weights. What is not
/// there is left out. Throws Error where a run that was begun has no specification.
std::vector<PackedFile> files_of_run(Store& store, const RunRow& run, const PackChoice& choice,
                                     bool is_parent);
/// Its data, each content once. Throws Error where a file is not there any more, or is another one.
std::vector<PackedFile> data_of_run(Store& store, const RunRow& run);
/// The files of a folder with sources, but for what git ignores by custom: hidden ones and build folders.
std::vector<PackedFile> files_of_sources(const std::filesystem::path& folder);

}  // namespace encore
