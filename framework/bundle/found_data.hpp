// SPDX-License-Identifier: BSD-3-Clause
// FoundData finds the data of a bundle's runs on this machine: in the bundle itself, or in a folder that the
// user names. The paths in a bundle are those of another machine, so they are never opened; the search
// compares their last parts below the named folders and takes a file only if it has the recorded content.
// cli/bundle_verify.cpp asks it before it trains, check_bundle.cpp looks in the bundle alone.
// packed_files.cpp writes names by packed_data_name(), so bundles that exist depend on its rule.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "record/specification.hpp"

namespace encore::bundle {

/// Returns the path of packed data in a bundle: data/<SHA-256 of the content>/<name>. The name is that of the
/// recorded path, with '_' for characters that a bundle cannot have.
std::string packed_data_name(const std::string& path);

class FoundData {
 public:
  /// `bundle`: the folder of the unpacked bundle. `folders`: those that the user names; they may be none.
  FoundData(std::filesystem::path bundle, std::vector<std::filesystem::path> folders);

  /// Returns the absolute path of a file or a folder with the content of `wanted`, or nothing. The result is
  /// kept, because hashing a large file takes long.
  std::optional<std::filesystem::path> find(const record::DataFile& wanted);

 private:
  std::vector<std::filesystem::path> candidates(const record::DataFile& wanted) const;

  std::filesystem::path bundle_;
  std::vector<std::filesystem::path> folders_;
  std::map<std::string, std::optional<std::filesystem::path>> known_;  ///< by digest and path
};

}  // namespace encore::bundle
