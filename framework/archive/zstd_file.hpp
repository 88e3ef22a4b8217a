// SPDX-License-Identifier: BSD-3-Clause
// ZstdWriter and ZstdReader: compress a file with zstd while writing it, and decompress it while reading.
// bundle/pack_bundle.cpp writes a tar archive (tar.hpp) through it, unpack_bundle.cpp reads one. A file may
// come from anyone, so the memory of the reader stays limited.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "base/input_file.hpp"
#include "world/atomic_file.hpp"

struct ZSTD_CCtx_s;
struct ZSTD_DCtx_s;

namespace encore::archive {

/// Writes a compressed file. The file exists only after `finish` has returned.
class ZstdWriter {
 public:
  explicit ZstdWriter(const std::filesystem::path& path);
  ~ZstdWriter();
  ZstdWriter(const ZstdWriter&) = delete;
  ZstdWriter& operator=(const ZstdWriter&) = delete;

  void write(std::string_view bytes);
  void finish();

 private:
  void compress(std::string_view bytes, bool last);

  world::AtomicFile file_;
  ZSTD_CCtx_s* context_;
  std::vector<char> piece_;
};

/// Reads a file of one zstd frame. It takes a fixed amount of memory, whatever the header of the frame
/// requests.
class ZstdReader {
 public:
  /// Throws UnreadableFile, and Error if the file does not begin like a zstd file.
  explicit ZstdReader(const std::filesystem::path& path);
  ~ZstdReader();
  ZstdReader(const ZstdReader&) = delete;
  ZstdReader& operator=(const ZstdReader&) = delete;

  /// Fills `to`, unless the frame ends first, and returns the number of bytes. Throws Error for damaged
  /// content and for a file that ends within the frame.
  std::size_t read(std::span<char> to);
  /// Throws Error unless the frame is read to its end and is the last part of the file.
  void require_end();
  /// Returns the size of the file.
  std::uint64_t compressed_bytes() const { return file_.size(); }

 private:
  /// Returns false at the end of the file.
  bool fill();

  std::filesystem::path path_;
  InputFile file_;
  ZSTD_DCtx_s* context_;
  std::vector<char> piece_;
  std::size_t begin_ = 0, end_ = 0;  ///< range of the bytes in piece_ that are not decompressed yet
  bool over_ = false;                ///< the frame has ended
};

}  // namespace encore::archive
