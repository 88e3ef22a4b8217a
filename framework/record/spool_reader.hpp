// SPDX-License-Identifier: BSD-3-Clause
// SpoolReader: follows a spool while it is written, or reads what a crash left of it. SpoolFollower
// (runner/), store/merge.cpp and bundles use it. Content must never make it throw: at a torn or damaged frame
// it stops and says where and why. Only a failing disk or missing rights are an Error, so that no caller
// takes them for the end.
#pragma once

#include <cstdint>
#include <filesystem>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "base/input_file.hpp"
#include "record/spool.hpp"

namespace encore::record {

/// One record; `kind` decides which members are set. A caller reuses it from call to call, so that points
/// allocate nothing.
struct SpoolRecord {
  std::uint64_t sequence = 0;
  SpoolKind kind = SpoolKind::event;
  std::uint32_t metric = 0;  ///< metric, point
  std::string name;          ///< metric
  std::string unit;          ///< metric
  std::string meaning;       ///< metric: a measure as JSON, or empty
  std::int64_t step = 0;     ///< point
  double value = 0.0;        ///< point
  std::string text;          ///< event: JSON

  ReadEvent event() const { return read_event(text); }
};

enum class SpoolEnd : std::uint8_t {
  clean,    ///< every byte so far belongs to a complete frame
  torn,     ///< the last frame is not complete: being written, or cut by a crash
  damaged,  ///< no valid frame follows; skip_damage may find one behind it
  refused,  ///< valid, but of another run or attempt, or of a newer program: reading stops
  missing,  ///< no such file (yet)
};

/// A damaged place of a spool between whole records.
struct SpoolGap {
  std::uint64_t first_byte = 0, end_byte = 0;       ///< up to end_byte - 1
  std::uint64_t first_record = 0, last_record = 0;  ///< lost records; none if the last is before the first
};

class SpoolReader {
 public:
  /// Reads from the beginning. It refuses a spool of another owner.
  explicit SpoolReader(std::filesystem::path path, SpoolOwner owner = {});
  /// Continues after record `sequence`, whose frame ends at byte `offset`.
  SpoolReader(std::filesystem::path path, SpoolOwner owner, std::uint64_t offset, std::uint64_t sequence);

  /// Reads the next complete record. Returns false at the current end; a later call reads what was appended.
  bool next(SpoolRecord& record);

  /// Continues at the next whole record after damage, if there is one. Use it only for a spool that is no
  /// longer written: otherwise the damage may be bytes that have not arrived yet. The content may be
  /// anything, so the search is limited: it looks at `within` bytes, and the bytes that a reader hashes in
  /// all its searches, with those of frames whose checksum differs, are at most eight times the file and
  /// sixteen times `within`. Beyond these limits it finds nothing.
  std::optional<SpoolGap> skip_damage(std::uint64_t within = std::numeric_limits<std::uint64_t>::max());
  /// Continues after damage that another reader of the same spool has found at this place.
  void continue_behind(const SpoolGap& gap);
  /// Returns the bytes that searches have hashed or moved, and those of frames whose checksum differs.
  std::uint64_t searched_bytes() const { return searched_; }

  /// Returns the end of the last record. Store it to continue later.
  std::uint64_t offset() const { return offset_; }
  std::uint64_t sequence() const { return sequence_; }
  /// Returns the attempt in the file's head, 0 before it was read.
  int attempt() const { return attempt_; }
  /// Returns the format of the file, 0 before its head was read.
  std::uint32_t format() const { return format_; }
  /// Returns why `next` returned false.
  SpoolEnd end() const { return end_; }
  /// Returns "attempt-0001.spool: byte 4711: checksum differs"; empty while clean.
  const std::string& problem() const { return problem_; }

 private:
  bool fill(std::size_t needed);
  bool read_head();
  bool decode(const std::byte* payload, std::size_t size, SpoolRecord& record);
  bool stop(SpoolEnd end, const std::string& reason);
  bool is_owned(const SpoolOwner& found);
  std::optional<std::uint64_t> sequence_of_whole_frame(std::uint64_t file_bytes, std::uint64_t most_work);

  std::filesystem::path path_;
  SpoolOwner owner_;
  std::optional<InputFile> file_;
  std::vector<std::byte> buffer_;
  std::size_t begin_ = 0;  ///< of the unread part of buffer_
  std::size_t filled_ = 0;
  std::size_t ahead_ = 0;  ///< bytes that are read at once
  std::uint64_t offset_ = 0;
  std::uint64_t sequence_ = 0;
  std::uint64_t searched_ = 0;
  int attempt_ = 0;
  std::uint32_t format_ = 0;
  SpoolEnd end_ = SpoolEnd::clean;
  std::string problem_;
};

}  // namespace encore::record
