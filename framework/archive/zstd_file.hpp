// A file that zstd compresses on its way to the disk, or back. Place in the flow: bundle/pack_bundle.cpp
// writes a tar archive through it, unpack_bundle.cpp reads one.
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

namespace encore {

/// The file is there when `finish` has returned, and not before.
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

  AtomicFile file_;
  ZSTD_CCtx_s* context_;
  std::vector<char> piece_;
};

/// Reads one frame. Takes a fixed amount of memory, whatever the frame asks for.
class ZstdReader {
 public:
  /// Throws UnreadableFile, and Error where the file does not begin as zstd does.
  explicit ZstdReader(const std::filesystem::path& path);
  ~ZstdReader();
  ZstdReader(const ZstdReader&) = delete;
  ZstdReader& operator=(const ZstdReader&) = delete;

  /// Fills `to` unless the frame ends before; returns how many bytes it got. Throws Error for damaged content
  /// and for a file that ends within the frame.
  std::size_t read(std::span<char> to);
  /// Throws Error unless the frame is read to its end and nothing stands behind it in the file.
  void require_end();
  /// Of the file.
  std::uint64_t compressed_bytes() const { return file_.size(); }

 private:
  /// False at the end of the file.
  bool fill();

  std::filesystem::path path_;
  InputFile file_;
  ZSTD_DCtx_s* context_;
  std::vector<char> piece_;
  std::size_t begin_ = 0, end_ = 0;  ///< of what is still to be decompressed in piece_
  bool over_ = false;                ///< the frame is
};

}  // namespace encore
