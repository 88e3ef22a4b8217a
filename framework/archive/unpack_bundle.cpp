// SPDX-License-Identifier: BSD-3-Clause
// UnpackedBundle: reads the metadata of a bundle, then each file in the order of the list. Files
// that the caller does not want are compared with the list, too. Called by bundled_run.cpp and
// cli/bundle_text.cpp. The archive is untrusted; unpack_bundle.hpp says what is checked. Read it first.
#include "archive/unpack_bundle.hpp"

#include <fcntl.h>

#include <algorithm>
#include <vector>

#include "archive/bundle_budget.hpp"
#include "archive/tar.hpp"
#include "archive/zstd_file.hpp"
#include "base/readable_text.hpp"
#include "base/sha256.hpp"
#include "world/atomic_file.hpp"

namespace encore::archive {

namespace {

namespace fs = std::filesystem;

class Unpacking {
 public:
  explicit Unpacking(const fs::path& archive)
      : origin_(archive.string()),
        compressed_(archive),
        tar_([this](std::span<char> to) { return compressed_.read(to); }, origin_) {}

  BundleIndex read_index() {
    const std::optional<TarEntry> entry = tar_.next();
    if (!entry || entry->name != bundle_root + bundle_metadata)
      throw Error(origin_ + " is not a bundle: its first file is not " + bundle_root + bundle_metadata);
    if (entry->bytes > bundle_budget.metadata_bytes)
      throw Error(origin_ + ": " + bundle_metadata + " is larger than " +
                  bytes_text(bundle_budget.metadata_bytes));
    metadata_.resize(static_cast<std::size_t>(entry->bytes));
    tar_.read(metadata_);
    return read_bundle_index(metadata_, origin_);
  }

  /// Sets the folder of the files. Call it before the first file.
  void begin(const fs::path& folder, const BundleIndex& index, const std::string& below) {
    folder_ = folder;
    std::uint64_t wanted = 0;
    for (const BundleFile& file : index.files) wanted += file.path.starts_with(below) ? file.bytes : 0;
    require_room(index.bytes(), std::min(wanted, index.bytes()));
    const world::FileDescriptor out =
        world::open_file(folder_ / bundle_metadata, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0600);
    world::write_all(out.get(), std::as_bytes(std::span(metadata_)), folder_ / bundle_metadata);
  }

  void unpack(const BundleFile& file, bool wanted) {
    const std::optional<TarEntry> entry = tar_.next();
    if (!entry) throw Error(origin_ + ": " + file.path + " is listed, but not there");
    if (entry->name != bundle_root + file.path)
      throw Error(origin_ + " holds " + entry->name + " where its list has " + bundle_root + file.path);
    if (entry->bytes != file.bytes)
      throw Error(origin_ + ": " + file.path + " has " + std::to_string(entry->bytes) +
                  " bytes, and its list says " + std::to_string(file.bytes));
    const fs::path target = folder_ / file.path;
    std::optional<world::FileDescriptor> out;
    if (wanted) {
      world::make_folder(target.parent_path());
      out = world::open_file(target, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0600);
    }
    Sha256 hash;
    while (const std::size_t count = tar_.read(piece_)) {
      const auto bytes = std::as_bytes(std::span(piece_).first(count));
      hash.add(bytes);
      if (out) world::write_all(out->get(), bytes, target);
    }
    if (hash.hex() != file.sha256)
      throw Error(origin_ + ": " + file.path +
                  " is not the file that its list names: it has another SHA-256");
  }

  void end() {
    if (const std::optional<TarEntry> more = tar_.next())
      throw Error(origin_ + " holds " + more->name + ", which its list does not have");
    compressed_.require_end();
  }

 private:
  /// Throws Error if the disk has no room. `wanted` is the number of bytes that are written.
  void require_room(std::uint64_t bytes, std::uint64_t wanted) const {
    const std::uint64_t packed = compressed_.compressed_bytes();
    if (bytes > bundle_budget.unpacked_always && bytes / bundle_budget.unpacked_ratio > packed)
      throw Error(origin_ + " would become " + bytes_text(bytes) + " from " + bytes_text(packed) +
                  ": no bundle packs so well, so it is made to fill the disk");
    std::error_code failure;
    const fs::space_info space = fs::space(folder_, failure);
    if (!failure && space.available < wanted)
      throw Error(origin_ + " needs " + bytes_text(wanted) + ", and " + bytes_text(space.available) +
                  " are free in " + folder_.parent_path().string() + "; $TMPDIR names another place");
  }

  std::string origin_;
  fs::path folder_;
  ZstdReader compressed_;
  TarReader tar_;
  std::string metadata_;
  std::vector<char> piece_ = std::vector<char>(std::size_t{1} << 18);
};

}  // namespace

BundleIndex list_bundle(const fs::path& archive) {
  return Unpacking(archive).read_index();
}

UnpackedBundle::UnpackedBundle(const fs::path& archive, const Progress& progress, const std::string& below) {
  Unpacking unpacking(archive);
  index_ = unpacking.read_index();
  unpacking.begin(folder(), index_, below);
  std::size_t done = 0;
  for (const BundleFile& file : index_.files) {
    unpacking.unpack(file, file.path.starts_with(below));
    if (progress) progress(++done, index_.files.size());
  }
  unpacking.end();
}

}  // namespace encore::archive
