// SPDX-License-Identifier: BSD-3-Clause
// BundleIndex is the list of files of a bundle (one archive with runs, made by `exp bundle`), with their
// sizes and SHA-256, read from its RO-Crate metadata, the first file of the archive. A bundle has no other
// list, so two lists cannot differ. bundle/ro_crate.cpp writes the metadata; unpack_bundle.cpp compares every
// file with the list. Bundles exist outside of Encore, so the names below do not change without a new
// bundle_version.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace encore::archive {

/// The folder that holds all files of an archive.
inline const std::string bundle_root = "encore-bundle/";
/// Names of files in this folder.
inline constexpr const char* bundle_metadata = "ro-crate-metadata.json";
inline constexpr const char* bundle_database = "encore.db";
inline constexpr const char* bundle_report = "report.html";
inline const std::string bundle_runs = "encore.db.runs/";
inline const std::string bundle_data = "data/";        ///< data/<SHA-256>/<name>
inline const std::string bundle_sources = "sources/";  ///< of plugins

/// The version of this layout.
inline constexpr const char* bundle_version = "encore-bundle-1";

struct BundleFile {
  std::string path;  ///< below bundle_root
  std::uint64_t bytes = 0;
  std::string sha256;
};

struct BundleIndex {
  std::string subject;  ///< "run quickstart"
  std::string encore;   ///< the version that made it
  std::string licence;
  std::string author = {};        ///< as the person who made it states; empty in bundles of earlier versions
  std::vector<BundleFile> files;  ///< in the order of the archive, without the metadata

  std::uint64_t bytes() const;
};

/// Throws Error that says what is wrong; `origin` begins the message. Each path has a valid name (tar.hpp)
/// and lies where a bundle has such files; none occurs twice.
BundleIndex read_bundle_index(const std::string& metadata, const std::string& origin);

}  // namespace encore::archive
