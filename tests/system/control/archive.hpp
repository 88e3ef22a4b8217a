// SPDX-License-Identifier: BSD-3-Clause
// Archive: unpacks a bundle and packs it again as an attacker would: any bytes under any name, with a list
// that matches them or does not. Tests of bundles use it (forged_bundle_test.cpp, hostile_bundle_test.cpp,
// serve_files_test.cpp and others). It follows the format of framework/archive and must check nothing,
// because attacks are packed with it.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "archive/bundle_index.hpp"
#include "archive/tar.hpp"
#include "archive/zstd_file.hpp"
#include "base/sha256.hpp"

namespace encore::system_test {

struct Archive {
  nlohmann::ordered_json metadata;
  std::vector<std::pair<std::string, std::string>> files;  ///< {name below the root, content}, as packed
  std::string more;                                        ///< blocks after the files, before the end
  bool ends = true;                                        ///< whether the two blocks of zeros follow

  static Archive load(const std::filesystem::path& path) {
    Archive archive;
    archive::ZstdReader in(path);
    archive::TarReader tar([&](std::span<char> to) { return in.read(to); }, path.string());
    while (const std::optional<archive::TarEntry> entry = tar.next()) {
      std::string content(entry->bytes, '\0');
      tar.read(content);
      const std::string name = entry->name.substr(archive::bundle_root.size());
      if (name == archive::bundle_metadata)
        archive.metadata = nlohmann::ordered_json::parse(content);
      else
        archive.files.emplace_back(name, content);
    }
    return archive;
  }

  std::string& content(const std::string& ending) {
    for (auto& [name, content] : files)
      if (name.ends_with(ending)) return content;
    throw Error("no file " + ending);
  }
  nlohmann::ordered_json& entity(const std::string& ending) {
    for (auto& entity : metadata.at("@graph"))
      if (entity.at("@id").get<std::string>().ends_with(ending)) return entity;
    throw Error("no entity " + ending);
  }
  nlohmann::ordered_json& root() { return entity("./"); }

  /// Sets the sizes and digests of the list to those of the files.
  void list_again() {
    for (const auto& [name, content] : files) {
      entity(name)["contentSize"] = std::to_string(content.size());
      entity(name)["sha256"] = sha256(content);
    }
  }
  /// Adds one file with its line in the list.
  void add(const std::string& name, const std::string& content) {
    files.emplace_back(name, content);
    metadata.at("@graph").push_back({{"@id", name},
                                     {"@type", "File"},
                                     {"contentSize", std::to_string(content.size())},
                                     {"sha256", sha256(content)}});
    root().at("hasPart").push_back({{"@id", name}});
  }

  /// Returns a block with any name and type, and the matching checksum.
  static std::string head(const std::string& name, char type, std::uint64_t bytes = 0,
                          const std::string& target = "") {
    std::string block = archive::tar_head({"x", bytes});
    block.replace(0, 100, std::string(100, '\0'));
    block.replace(0, std::min<std::size_t>(name.size(), 100), name.substr(0, 100));
    block[156] = type;
    block.replace(157, target.size(), target);
    return summed(block);
  }
  static std::string summed(std::string block) {
    block.replace(148, 8, "        ");
    unsigned sum = 0;
    for (const char byte : block) sum += static_cast<unsigned char>(byte);
    char text[8];
    std::snprintf(text, sizeof text, "%06o", sum);
    block.replace(148, 8, std::string(text) + std::string("\0 ", 2));
    return block;
  }
  static std::string entry(const std::string& head, const std::string& content) {
    return head + content + archive::tar_padding(content.size());
  }

  std::string tar() const { return tar(metadata.dump()); }
  std::string tar(const std::string& metadata_text) const {
    std::string text =
        entry(archive::tar_head({archive::bundle_root + archive::bundle_metadata, metadata_text.size()}),
              metadata_text);
    for (const auto& [name, content] : files)
      text += entry(archive::tar_head({archive::bundle_root + name, content.size()}), content);
    return text + more + (ends ? archive::tar_end() : "");
  }
  void save(const std::filesystem::path& path) const { compress(tar(), path); }
  static void compress(const std::string& bytes, const std::filesystem::path& path) {
    archive::ZstdWriter out(path);
    out.write(bytes);
    out.finish();
  }
};

}  // namespace encore::system_test
