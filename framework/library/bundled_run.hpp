// BundledRun: a run out of a bundle, for encore_open: its folder aside for as long as this object lives,
// which need not be longer than a model takes to load. Nothing else of the bundle is written to the disk.
#pragma once

#include <filesystem>
#include <string>

#include "archive/unpack_bundle.hpp"

namespace encore {

class BundledRun {
 public:
  /// `wanted`: the id of a run or its beginning; empty: the only run that has parameters. Throws Error that
  /// names the archive: as UnpackedBundle does, and where no run or more than one is meant.
  BundledRun(const std::filesystem::path& archive, const std::string& wanted);

  std::filesystem::path folder() const { return unpacked_.folder() / below_; }
  /// What is said about a file in the folder, with the archive's name in place of a folder that is gone soon.
  std::string named(std::string message) const;

 private:
  std::filesystem::path archive_;
  std::string below_;  ///< "encore.db.runs/ID/"
  UnpackedBundle unpacked_;
};

}  // namespace encore
