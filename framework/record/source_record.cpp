// SPDX-License-Identifier: BSD-3-Clause
// Reads source.json and source.diff beside the programs, limits their size, and compares the hashes of the
// program's files. The worker's build description and `exp` call it. A record that does not belong to the
// programs is ignored. Databases store the result of json_of(), so its members keep their names. Read
// source_record.hpp first.
#include "record/source_record.hpp"

#include <nlohmann/json.hpp>

#include "base/input_file.hpp"
#include "base/json_text.hpp"
#include "base/sha256.hpp"

namespace encore::record {

namespace {

namespace fs = std::filesystem;

std::optional<std::string> content_of(const fs::path& path) try {
  return read_file(path);
} catch (const UnreadableFile&) {
  return std::nullopt;
}

std::string member(const nlohmann::json& json, const char* name) {
  const auto found = json.find(name);
  return found != json.end() && found->is_string() ? found->get<std::string>() : std::string();
}

}  // namespace

std::string limited_diff(std::string diff) {
  if (diff.size() <= code_diff_limit) return diff;
  diff.resize(code_diff_limit);
  return diff + code_diff_cut;
}

std::optional<SourceRecord> read_source_record(const fs::path& folder) {
  const fs::path shared = folder / "share" / "encore";
  const std::optional<std::string> text = content_of(shared / "source.json");
  std::optional<std::string> diff = content_of(shared / "source.diff");
  if (!text || !diff) return std::nullopt;
  const nlohmann::json json = json_or_null(*text);
  if (!json.is_object() || member(json, "diff_sha256") != sha256(*diff)) return std::nullopt;
  const std::optional<SourceVersion> source = source_from(json);
  const auto files = json.find("files");
  if (!source || files == json.end() || !files->is_object()) return std::nullopt;
  SourceRecord record{.source = *source};
  record.source.diff = limited_diff(*std::move(diff));
  for (const auto& [path, hash] : files->items())
    if (hash.is_string()) record.files[path] = hash.get<std::string>();
  return record;
}

nlohmann::json json_of(const SourceVersion& source) {
  return {{"commit", source.commit},
          {"diff", source.diff},
          {"archive", source.archive},
          {"sha256", source.sha256}};
}

std::optional<SourceVersion> source_from(const nlohmann::json& json) {
  if (!json.is_object()) return std::nullopt;
  SourceVersion source{.commit = member(json, "commit"),
                       .diff = member(json, "diff"),
                       .archive = member(json, "archive"),
                       .sha256 = member(json, "sha256")};
  if (source.commit.empty() && source.sha256.empty()) return std::nullopt;
  return source;
}

bool is_commit_hash(const std::string& text) {
  return (text.size() == 40 || text.size() == 64) &&
         text.find_first_not_of("0123456789abcdef") == std::string::npos;
}

std::string source_text(const SourceVersion& source) {
  const std::string text = source.commit.empty()
                               ? "folder " + source.archive + " (SHA-256 " + short_hash(source.sha256) + ")"
                               : "commit " + short_hash(source.commit);
  return text + (source.diff.empty() ? "" : " with changes");
}

}  // namespace encore::record
