// A bundle on the disk of whoever looks at it: unpacked into a folder of its own, every file held against the
// list of the bundle while it is written. The archive is untrusted: what is not exactly as a bundle is made
// ends it, with a reason and without a trace. Place in the flow: first this, then bundle/check_bundle.hpp, or
// an Engine on one of its runs (library/bundled_run.hpp).
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>

#include "archive/bundle_index.hpp"
#include "archive/scratch_folder.hpp"

namespace encore {

/// What an archive says it holds; nothing else of it is looked at. Throws Error that names the archive.
BundleIndex list_bundle(const std::filesystem::path& archive);

class UnpackedBundle {
 public:
  using Progress = std::function<void(std::size_t files, std::size_t all)>;

  /// `below`: only files whose paths begin so are written; the others are held against the list, too. Throws
  /// Error that names the archive and what is wrong with it.
  explicit UnpackedBundle(const std::filesystem::path& archive, const Progress& progress = {},
                          const std::string& below = {});

  const BundleIndex& index() const { return index_; }
  /// Goes with this object, unless kept.
  const std::filesystem::path& folder() const { return scratch_.path(); }
  std::filesystem::path database() const { return folder() / bundle_database; }
  void keep() { scratch_.keep(); }

 private:
  ScratchFolder scratch_;
  BundleIndex index_;
};

}  // namespace encore
