// Which source of Encore a program was built from: source.json and source.diff in share/encore beside the
// programs, written by the build (cmake/source_record.cmake), never part of a program. Place in the flow: a
// worker puts it into its build description, merging keeps it (table source), reports and bundles show it.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include <nlohmann/json_fwd.hpp>

namespace encore {

/// A commit of Encore's own repository; of a build without git the folder with the source.
struct SourceVersion {
  std::string commit = {};
  std::string diff = {};     ///< what differed from the commit, untracked source files too; empty: nothing
  std::string archive = {};  ///< the folder's name
  std::string sha256 = {};   ///< of the folder's source files
  bool operator==(const SourceVersion&) const = default;
};

struct SourceRecord {
  SourceVersion source;
  /// SHA-256 of the programs that were made from it, by their paths below the folder of the build.
  std::map<std::string, std::string> files = {};
};

/// A diff that is longer is cut, with this mark at its end.
inline constexpr std::size_t code_diff_limit = 1u << 20;
inline constexpr const char* code_diff_cut = "\n[cut here: the diff is larger]\n";
std::string limited_diff(std::string diff);

/// `folder`: that holds bin, lib and share. Nothing where there is no record, or none that can be believed: a
/// file is missing, is not as it is written, or the diff is not the one that belongs to it.
std::optional<SourceRecord> read_source_record(const std::filesystem::path& folder);

/// {"commit", "diff", "archive", "sha256"}
nlohmann::json json_of(const SourceVersion& source);
/// Nothing where it is not as json_of writes it, or names neither a commit nor a folder.
std::optional<SourceVersion> source_from(const nlohmann::json& json);

/// Whether git could have named a commit so: 40 or 64 hexadecimal digits.
bool is_commit_hash(const std::string& text);

/// "commit 0123456789ab", "folder encore-1.0 (SHA-256 0123456789ab)"; with " with changes" where a diff is
/// recorded.
std::string source_text(const SourceVersion& source);

}  // namespace encore
