// SPDX-License-Identifier: BSD-3-Clause
// Where the data of a bundle's runs are on this machine: in the bundle itself, or in a folder that the user
// names. The paths of a bundle are those of another machine, so they are never opened; the search compares
// their last parts below the named folders and takes a file only if it has the recorded content. Place in the
// flow: cli/bundle_verify.cpp asks before it trains.
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
  FoundData(std::filesystem::path bundle, std::vector<std::filesystem::path> folders);

  /// Returns a file or a folder with the content of `wanted`, or nothing.
  std::optional<std::filesystem::path> find(const record::DataFile& wanted);

 private:
  std::vector<std::filesystem::path> candidates(const record::DataFile& wanted) const;

  std::filesystem::path bundle_;
  std::vector<std::filesystem::path> folders_;
  std::map<std::string, std::optional<std::filesystem::path>> known_;  ///< by digest and path
};

}  // namespace encore::bundle
