// SpoolReader: follows a spool while it is written, or reads what a crash left of it.
// Content never makes it throw: at a torn or damaged frame it stops and says where and why. Only a failing
// disk or missing rights are an Error, so that nobody mistakes them for the end.
#pragma once

#include <cstdint>
#include <filesystem>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "base/input_file.hpp"
#include "record/spool.hpp"

namespace encore {

/// One record; which members count depends on `kind`. Reused from call to call, so that points allocate
/// nothing.
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
  damaged,  ///< what follows is no valid frame; skip_damage may find one behind it
  refused,  ///< sound, but the spool of another run or attempt, or of a newer program: nothing more is read
  missing,  ///< no such file (yet)
};

/// Where a spool is damaged between whole records.
struct SpoolGap {
  std::uint64_t first_byte = 0, end_byte = 0;       ///< up to end_byte - 1
  std::uint64_t first_record = 0, last_record = 0;  ///< what is lost; none where the last is before the first
};

class SpoolReader {
 public:
  /// Reads from the beginning; a spool that is not the owner's is refused.
  explicit SpoolReader(std::filesystem::path path, SpoolOwner owner = {});
  /// Continues behind record `sequence`, whose frame ends at byte `offset`.
  SpoolReader(std::filesystem::path path, SpoolOwner owner, std::uint64_t offset, std::uint64_t sequence);

  /// The next complete record. False at the end so far; a later call looks again for what was appended since.
  bool next(SpoolRecord& record);

  /// At damage: continues at the next whole record, if there is one. Only for a spool that is not written any
  /// more: elsewhere the damage may be what has not arrived yet. What lies there may be anything, so the
  /// search is limited: it looks at `within` bytes, and what a reader hashes in all its searches, and of
  /// frames whose checksum differs, is at most eight times the file, and sixteen times `within`; where that
  /// does not suffice it finds nothing.
  std::optional<SpoolGap> skip_damage(std::uint64_t within = std::numeric_limits<std::uint64_t>::max());
  /// Continues behind damage that another reader of the same spool has found at this place.
  void continue_behind(const SpoolGap& gap);
  /// Bytes that searches have hashed, or moved to hash them, and those of frames whose checksum differs.
  std::uint64_t searched_bytes() const { return searched_; }

  /// Where the last record returned ends: what to store to go on later.
  std::uint64_t offset() const { return offset_; }
  std::uint64_t sequence() const { return sequence_; }
  /// The attempt in the file's head, 0 before it was read.
  int attempt() const { return attempt_; }
  /// Of the file, 0 before its head was read.
  std::uint32_t format() const { return format_; }
  /// Why `next` returned false.
  SpoolEnd end() const { return end_; }
  /// "attempt-0001.spool: byte 4711: checksum differs"; empty while clean.
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

}  // namespace encore
