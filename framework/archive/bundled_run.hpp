// SPDX-License-Identifier: BSD-3-Clause
// BundledRun unpacks one run of a bundle into a temporary folder that exists while this object lives; it is
// needed only while a model loads. encore_open (library/encore_infer.cpp) and `exp serve`
// (app/served_models.cpp) make one. The archive is untrusted: nothing else of it may be written to the disk.
// Read next: unpack_bundle.hpp.
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
  /// Replaces the path of the temporary folder by the archive's name in a message about a file, because a
  /// user knows the archive only. Returns the message.
  std::string named(std::string message) const;

 private:
  std::filesystem::path archive_;
  std::string below_;  ///< "encore.db.runs/ID/"
  UnpackedBundle unpacked_;
};

}  // namespace encore::archive
