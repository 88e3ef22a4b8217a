// The archive inside a bundle: plain files in the ustar form of POSIX.1-1988, which every tar reads. The
// reader takes this form and nothing else: there are no links, devices, folders or extended headers in it, so
// none can be abused. Place in the flow: between pack_bundle or unpack_bundle and zstd_file.hpp.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace encore {

struct TarEntry {
  std::string name;
  std::uint64_t bytes = 0;
};

inline constexpr std::size_t tar_block = 512;

/// What is wrong with the name of a file in a bundle, or "": it consists of at most eight parts between
/// slashes, each of letters, digits, '.', '_', '+' and '-' and none of them "." or "..", at most 240 bytes
/// in all.
std::string name_problem(std::string_view name);

/// For a message: in quotes, with escapes for what is no printable ASCII, cut where it is long.
std::string shown_name(const std::string& name);

/// The block in front of the content. Always of the same time, owner and rights. Throws Error for a name that
/// cannot be written.
std::string tar_head(const TarEntry& entry);
/// Zeros that fill up the last block of a content.
std::string tar_padding(std::uint64_t bytes);
/// The end of an archive.
std::string tar_end();

class TarReader {
 public:
  /// `source` fills what it is given, unless its content ends before, and returns how many bytes it had;
  /// `origin` begins each message.
  TarReader(std::function<std::size_t(std::span<char>)> source, std::string origin);

  /// The next entry; nothing at the end of the archive. What was not read of the last one is passed over.
  /// Throws Error for whatever is not a plain file with a sound name, and for an archive that is damaged or
  /// cut off.
  std::optional<TarEntry> next();
  /// The next bytes of the entry's content; 0 at its end.
  std::size_t read(std::span<char> to);

 private:
  std::optional<std::string> read_block();
  void pass_over();

  std::function<std::size_t(std::span<char>)> source_;
  std::string origin_;
  std::uint64_t left_ = 0;     ///< of the content
  std::uint64_t padding_ = 0;  ///< behind it
};

}  // namespace encore
