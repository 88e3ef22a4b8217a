// What a bundle says it holds: the files with their sizes and SHA-256, read from its RO-Crate metadata, which
// is the first file of the archive. A bundle has no second list, so there is nothing the two could differ in.
// Place in the flow: bundle/ro_crate.cpp writes it, unpack_bundle.cpp holds every file against it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace encore {

/// The folder of an archive under which all of it lies.
inline const std::string bundle_root = "encore-bundle/";
/// The names of files below it.
inline constexpr const char* bundle_metadata = "ro-crate-metadata.json";
inline constexpr const char* bundle_database = "encore.db";
inline constexpr const char* bundle_report = "report.html";
inline const std::string bundle_runs = "encore.db.runs/";
inline const std::string bundle_data = "data/";        ///< data/<SHA-256>/<name>
inline const std::string bundle_sources = "sources/";  ///< of plugins

/// Of the layout that stands here.
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
  std::string author = {};        ///< as its maker states it; empty in bundles of earlier versions
  std::vector<BundleFile> files;  ///< in the order of the archive, without the metadata

  std::uint64_t bytes() const;
};

/// Throws Error that says what is wrong; `origin` begins the message. Each path has a sound name (tar.hpp)
/// and lies where a bundle has such files; none is there twice.
BundleIndex read_bundle_index(const std::string& metadata, const std::string& origin);

}  // namespace encore
