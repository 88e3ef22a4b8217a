// SPDX-License-Identifier: BSD-3-Clause
// TarReader and tar_head(): the archive inside a bundle, plain files in the ustar form of POSIX.1-1988, which
// every tar program reads. The reader must refuse links, devices, folders and extended headers, because the
// archive is untrusted. The form does not change: other programs unpack bundles. Place in the flow:
// bundle/pack_bundle.cpp and unpack_bundle.cpp -> here -> zstd_file.hpp.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace encore::archive {

struct TarEntry {
  std::string name;
  std::uint64_t bytes = 0;
};

inline constexpr std::size_t tar_block = 512;

/// Returns what is wrong with the name of a file in a bundle, or "". A name has at most eight parts between
/// slashes, each of letters, digits, '.', '_', '+' and '-' and none of them "." or "..", and at most 240
/// bytes in all.
std::string name_problem(std::string_view name);

/// Returns a name for a message: quoted, cut if it is long, and with escapes for characters other than
/// printable ASCII.
std::string shown_name(const std::string& name);

/// Returns the header, the block before the content of a file. Time, owner and rights are always the same.
/// Throws Error for a name that cannot be written.
std::string tar_head(const TarEntry& entry);
/// Returns zeros that fill the last block of a content.
std::string tar_padding(std::uint64_t bytes);
/// Returns the end of an archive.
std::string tar_end();

class TarReader {
 public:
  /// `source` fills the given bytes with the next ones of the archive and returns their number, which is
  /// smaller only at the end; `origin` begins each message.
  TarReader(std::function<std::size_t(std::span<char>)> source, std::string origin);

  /// Returns the next entry, or nothing at the end of the archive. Skips what was not read of the last one.
  /// Throws Error for everything that is not a plain file with a valid name, and for an archive that is
  /// damaged or cut off.
  std::optional<TarEntry> next();
  /// Reads the next bytes of the entry's content. Returns 0 at its end.
  std::size_t read(std::span<char> to);

 private:
  std::optional<std::string> read_block();
  void pass_over();

  std::function<std::size_t(std::span<char>)> source_;
  std::string origin_;
  std::uint64_t left_ = 0;     ///< bytes of the content that are not read yet
  std::uint64_t padding_ = 0;  ///< bytes of padding after the content
};

}  // namespace encore::archive
