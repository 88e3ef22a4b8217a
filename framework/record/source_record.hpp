// SPDX-License-Identifier: BSD-3-Clause
// SourceVersion: from which source of Encore a program was built: source.json and source.diff in share/encore
// beside the programs. Place in the flow: the build writes them (cmake/source_record.cmake), a worker puts
// them into its build description, merging stores them (table source), reports and bundles show them. They
// are never compiled into a program. Databases and bundles store the members of SourceVersion, which keep
// their names.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include <nlohmann/json_fwd.hpp>

namespace encore::record {

/// A commit of Encore's own repository; for a build without git, the folder with the source.
struct SourceVersion {
  std::string commit = {};
  std::string diff = {};     ///< the difference from the commit, with untracked source files; empty: none
  std::string archive = {};  ///< the folder's name
  std::string sha256 = {};   ///< of the folder's source files
  bool operator==(const SourceVersion&) const = default;
};

struct SourceRecord {
  SourceVersion source;
  /// SHA-256 of the programs that were made from it, by their paths below the folder of the build.
  std::map<std::string, std::string> files = {};
};

/// The longest diff; a longer one is cut, with this mark at its end.
inline constexpr std::size_t code_diff_limit = 1u << 20;
inline constexpr const char* code_diff_cut = "\n[cut here: the diff is larger]\n";
/// Returns the diff, cut at code_diff_limit.
std::string limited_diff(std::string diff);

/// `folder` holds bin, lib and share. Returns nothing if there is no valid record: a file is missing or
/// differs from the record, or the diff does not belong to it.
std::optional<SourceRecord> read_source_record(const std::filesystem::path& folder);

/// Returns {"commit", "diff", "archive", "sha256"}.
nlohmann::json json_of(const SourceVersion& source);
/// Returns nothing unless json_of() could have written it and it names a commit or a folder.
std::optional<SourceVersion> source_from(const nlohmann::json& json);

/// Returns whether git could have named a commit so: 40 or 64 hexadecimal digits.
bool is_commit_hash(const std::string& text);

/// Returns "commit 0123456789ab" or "folder encore-1.0 (SHA-256 0123456789ab)"; with " with changes" if a
/// diff is recorded.
std::string source_text(const SourceVersion& source);

}  // namespace encore::record
