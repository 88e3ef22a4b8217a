// SPDX-License-Identifier: BSD-3-Clause
// BundledRun unpacks one run of a bundle, for encore_open and exp serve, into a temporary folder that exists
// while this object lives; it is needed only while a model loads. Nothing else of the bundle is written to
// the disk.
#pragma once

#include <filesystem>
#include <string>

#include "archive/unpack_bundle.hpp"

namespace encore::archive {

class BundledRun {
 public:
  /// Unpacks one run of the archive. `wanted` is the id of the run or its beginning; empty: the only run that
  /// has parameters. `choice` says how a user chooses a run, for the message. Throws Error that names the
  /// archive: as UnpackedBundle does, and if no run or more than one matches.
  BundledRun(const std::filesystem::path& archive, const std::string& wanted, const std::string& choice,
             const UnpackedBundle::Progress& progress = {});

  std::filesystem::path folder() const { return unpacked_.folder() / below_; }
  /// Replaces the path of the temporary folder by the archive's name in a message about a file.
  std::string named(std::string message) const;

 private:
  std::filesystem::path archive_;
  std::string below_;  ///< "encore.db.runs/ID/"
  UnpackedBundle unpacked_;
};

}  // namespace encore::archive
