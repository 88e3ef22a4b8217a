// SPDX-License-Identifier: BSD-3-Clause
// Finds the data of a bundle on this machine for `exp verify`: searches below the folders that the user names
// for files whose last path components agree, and compares their SHA-256. Paths of a bundle are untrusted, so
// a path with ".." is not looked for. Read found_data.hpp first.
#include "bundle/found_data.hpp"

#include <algorithm>

#include <encore/error.hpp>

#include "archive/bundle_index.hpp"
#include "archive/tar.hpp"
#include "pretrained/content_hash.hpp"
#include "record/run_paths.hpp"

namespace encore::bundle {

namespace {

namespace fs = std::filesystem;

/// Returns whether a file or folder has this content; false if it is unreadable.
bool has_content(const fs::path& path, const std::string& sha256) try {
  std::error_code missing;
  return fs::exists(path, missing) && pretrained::sha256_of_bytes_of_content(path) == sha256;
} catch (const Error&) {
  return false;
}

}  // namespace

std::string packed_data_name(const std::string& path) {
  constexpr std::size_t longest = 80;
  std::string name = fs::path(path).filename().string();
  for (char& letter : name)
    if (!archive::name_problem(std::string(1, letter)).empty() && letter != '.') letter = '_';
  if (name.size() > longest) name = name.substr(name.size() - longest);
  return archive::name_problem(name).empty() ? name : "file";
}

FoundData::FoundData(fs::path bundle, std::vector<fs::path> folders)
    : bundle_(std::move(bundle)), folders_(std::move(folders)) {}

std::vector<fs::path> FoundData::candidates(const record::DataFile& wanted) const {
  // A folder is packed with its files; a file is packed with those that belong to it.
  const fs::path packed = record::path_below(bundle_, archive::bundle_data + wanted.sha256);
  std::vector<fs::path> found = {packed / packed_data_name(wanted.path), packed};
  std::vector<fs::path> parts;
  for (const fs::path& part : fs::path(wanted.path).relative_path())
    if (part == "..")
      return found;
    else if (!part.empty() && part != ".")
      parts.push_back(part);
  for (const fs::path& folder : folders_)
    for (std::size_t first = 0; first < parts.size(); ++first) {
      fs::path path = folder;
      for (std::size_t at = first; at < parts.size(); ++at) path /= parts[at];
      found.push_back(path);
    }
  return found;
}

std::optional<fs::path> FoundData::find(const record::DataFile& wanted) {
  const auto [place, is_new] = known_.emplace(wanted.sha256 + wanted.path, std::nullopt);
  if (!is_new) return place->second;
  if (wanted.sha256.find_first_not_of("0123456789abcdef") != std::string::npos) return std::nullopt;
  for (const fs::path& path : candidates(wanted))
    if (has_content(path, wanted.sha256)) {
      place->second = fs::absolute(path);
      break;
    }
  return place->second;
}

}  // namespace encore::bundle
