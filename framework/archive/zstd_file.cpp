// SPDX-License-Identifier: BSD-3-Clause
// ZstdWriter and ZstdReader: compress and decompress the file of a bundle as a stream with libzstd, for
// bundle/pack_bundle.cpp and unpack_bundle.cpp. The level may change; the limit of the window protects the
// reader. Read zstd_file.hpp first.
#include "archive/zstd_file.hpp"

#include <zstd.h>

#include <string>

#include <encore/error.hpp>

namespace encore::archive {

namespace {

/// 9 is the last fast level. Weights hardly shrink at any level; tables and text do.
constexpr int compression_level = 9;

/// A frame may ask its reader for a window of up to 2 GiB. What Encore writes needs 2^23 bytes.
constexpr int largest_window_log = 27;

void require_success(std::size_t result, const std::string& what) {
  if (ZSTD_isError(result) != 0) throw Error(what + ": " + ZSTD_getErrorName(result));
}

}  // namespace

ZstdWriter::ZstdWriter(const std::filesystem::path& path)
    : file_(path), context_(ZSTD_createCCtx()), piece_(ZSTD_CStreamOutSize()) {
  if (context_ == nullptr) throw Error("zstd finds no memory to compress " + path.string());
  ZSTD_CCtx_setParameter(context_, ZSTD_c_compressionLevel, compression_level);
  ZSTD_CCtx_setParameter(context_, ZSTD_c_checksumFlag, 1);
}

ZstdWriter::~ZstdWriter() {
  ZSTD_freeCCtx(context_);
}

void ZstdWriter::write(std::string_view bytes) {
  compress(bytes, false);
}

void ZstdWriter::finish() {
  compress({}, true);
  file_.commit();
}

void ZstdWriter::compress(std::string_view bytes, bool last) {
  ZSTD_inBuffer in{bytes.data(), bytes.size(), 0};
  for (;;) {
    ZSTD_outBuffer out{piece_.data(), piece_.size(), 0};
    const std::size_t left = ZSTD_compressStream2(context_, &out, &in, last ? ZSTD_e_end : ZSTD_e_continue);
    require_success(left, "zstd cannot compress");
    file_.write(std::string_view(piece_.data(), out.pos));
    if (last ? left == 0 : in.pos == in.size) return;
  }
}

ZstdReader::ZstdReader(const std::filesystem::path& path)
    : path_(path), file_(path), context_(ZSTD_createDCtx()), piece_(ZSTD_DStreamInSize()) {
  if (context_ == nullptr) throw Error("zstd finds no memory to read " + path.string());
  ZSTD_DCtx_setParameter(context_, ZSTD_d_windowLogMax, largest_window_log);
  constexpr std::string_view magic = "\x28\xb5\x2f\xfd";
  if (!fill() || std::string_view(piece_.data(), end_).substr(0, magic.size()) != magic) {
    ZSTD_freeDCtx(context_);
    throw Error(path_.string() + " is not a bundle: it is not compressed by zstd");
  }
}

ZstdReader::~ZstdReader() {
  ZSTD_freeDCtx(context_);
}

bool ZstdReader::fill() {
  begin_ = 0;
  end_ = file_.read(piece_.data(), piece_.size());
  return end_ > 0;
}

std::size_t ZstdReader::read(std::span<char> to) {
  ZSTD_outBuffer out{to.data(), to.size(), 0};
  while (out.pos < out.size && !over_) {
    if (begin_ == end_ && !fill())
      throw Error(path_.string() + " is cut off: it ends within its compressed content");
    ZSTD_inBuffer in{piece_.data() + begin_, end_ - begin_, 0};
    const std::size_t wanted = ZSTD_decompressStream(context_, &out, &in);
    require_success(wanted, path_.string() + " is damaged");
    begin_ += in.pos;
    over_ = wanted == 0;
  }
  return out.pos;
}

void ZstdReader::require_end() {
  char more = 0;
  if (read({&more, 1}) != 0) throw Error(path_.string() + " has content behind the end of its archive");
  if (begin_ != end_ || fill()) throw Error(path_.string() + " has bytes behind its compressed content");
}

}  // namespace encore::archive
