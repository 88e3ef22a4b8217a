// SPDX-License-Identifier: BSD-3-Clause
// UnpackedBundle: unpacks a bundle into a temporary folder and compares every file with the list of the
// bundle while writing it. bundled_run.cpp and `exp verify FILE` (cli/bundle_text.cpp) use it. The archive is
// untrusted: any deviation from a bundle's form must end the reading with a reason, and removes the folder.
// Read next: bundle/check_bundle.hpp, or bundled_run.hpp for an Engine on one of its runs.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>

#include "archive/bundle_index.hpp"
#include "archive/scratch_folder.hpp"

namespace encore::archive {

/// Returns the list of an archive without reading the rest. Throws Error that names the archive.
BundleIndex list_bundle(const std::filesystem::path& archive);

class UnpackedBundle {
 public:
  using Progress = std::function<void(std::size_t files, std::size_t all)>;

  /// Unpacks an archive. Only files whose paths begin with `below` are written; the others are compared with
  /// the list too. Throws Error that names the archive and what is wrong with it.
  explicit UnpackedBundle(const std::filesystem::path& archive, const Progress& progress = {},
                          const std::string& below = {});

  const BundleIndex& index() const { return index_; }
  /// The folder with the files. It is removed with this object, unless keep() was called.
  const std::filesystem::path& folder() const { return scratch_.path(); }
  std::filesystem::path database() const { return folder() / bundle_database; }
  void keep() { scratch_.keep(); }

 private:
  ScratchFolder scratch_;
  BundleIndex index_;
};

}  // namespace encore::archive
