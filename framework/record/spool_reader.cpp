// SPDX-License-Identifier: BSD-3-Clause
// SpoolReader: reads frames, checks each checksum and sequence number, and searches for the next whole frame
// after damage. Runner, merge and verification call it. A spool may come from anyone, so memory and time are
// limited by the size of the file. Read spool_reader.hpp first.
#include "record/spool_reader.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <encore/error.hpp>

#include "base/crc32.hpp"

namespace encore::record {

namespace {

/// The bytes that are read at once. After damage it starts with few, because each read starts over if a spool
/// is damaged every few bytes.
constexpr std::size_t least_read_ahead = 4u << 10, read_ahead = 256u << 10;
constexpr std::size_t old_head_bytes = 16;  ///< of format 1

template <class T>
T take(const std::byte*& from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  from += sizeof value;
  return value;
}

bool take_text(const std::byte*& from, const std::byte* end, std::string& text) {
  if (end - from < 2) return false;
  const auto length = take<std::uint16_t>(from);
  if (end - from < length) return false;
  text.assign(reinterpret_cast<const char*>(from), length);
  from += length;
  return true;
}

}  // namespace

SpoolReader::SpoolReader(std::filesystem::path path, SpoolOwner owner)
    : SpoolReader(std::move(path), std::move(owner), 0, 0) {}

SpoolReader::SpoolReader(std::filesystem::path path, SpoolOwner owner, std::uint64_t offset,
                         std::uint64_t sequence)
    : path_(std::move(path)), owner_(std::move(owner)), offset_(offset), sequence_(sequence) {}

bool SpoolReader::next(SpoolRecord& record) {
  if (attempt_ == 0 && !read_head()) return false;
  if (!fill(spool_frame_head_bytes)) {
    return filled_ == begin_ ? stop(SpoolEnd::clean, "") : stop(SpoolEnd::torn, "the last frame is cut");
  }
  const std::byte* at = buffer_.data() + begin_;
  const auto length = take<std::uint32_t>(at);
  const auto checksum = take<std::uint32_t>(at);
  if (length < spool_record_head_bytes || length > spool_frame_limit)
    return stop(SpoolEnd::damaged, "not a frame's length");
  if (!fill(spool_frame_head_bytes + length)) return stop(SpoolEnd::torn, "the last frame is cut");
  const std::byte* payload =
      buffer_.data() + begin_ + spool_frame_head_bytes;  // fill may have moved the buffer
  if (crc32({payload, length}) != checksum) {
    searched_ += length;  // a damaged length may be that of the rest of the file, each time
    return stop(SpoolEnd::damaged, "the checksum differs");
  }
  if (!decode(payload, length, record)) return false;
  begin_ += spool_frame_head_bytes + length;
  offset_ += spool_frame_head_bytes + length;
  sequence_ = record.sequence;
  end_ = SpoolEnd::clean;
  problem_.clear();
  return true;
}

bool SpoolReader::decode(const std::byte* payload, std::size_t size, SpoolRecord& record) {
  const std::byte* at = payload;
  const std::byte* const end = payload + size;
  const auto sequence = take<std::uint64_t>(at);
  if (sequence != sequence_ + 1) {
    return stop(SpoolEnd::damaged,
                "record " + std::to_string(sequence) + " follows record " + std::to_string(sequence_));
  }
  const auto kind = take<std::uint8_t>(at);
  record.kind = static_cast<SpoolKind>(kind);
  bool sound = false;
  switch (record.kind) {
    case SpoolKind::metric:
      if (end - at >= 4) {
        record.metric = take<std::uint32_t>(at);
        record.meaning.clear();  // of format 3
        sound = take_text(at, end, record.name) && take_text(at, end, record.unit) &&
                (at == end || take_text(at, end, record.meaning)) && at == end;
      }
      break;
    case SpoolKind::point:
      if (end - at == 20) {
        record.metric = take<std::uint32_t>(at);
        record.step = take<std::int64_t>(at);
        record.value = take<double>(at);
        sound = true;
      }
      break;
    case SpoolKind::event:
      record.text.assign(reinterpret_cast<const char*>(at), static_cast<std::size_t>(end - at));
      sound = true;
      break;
  }
  if (!sound) {
    return stop(SpoolEnd::refused, "a record of kind " + std::to_string(kind) +
                                       " that this program does not know; was it "
                                       "written by a newer one?");
  }
  record.sequence = sequence;
  return true;
}

bool SpoolReader::read_head() {
  std::byte head[spool_head_bytes] = {};
  if (!file_) {
    try {
      file_.emplace(path_);
    } catch (const UnreadableFile& error) {
      if (error.missing()) return stop(SpoolEnd::missing, "there is no such file");
      throw;
    }
  }
  const ssize_t count = ::pread(file_->descriptor(), head, sizeof head, 0);
  if (count < 0) throw Error(world::system_message("read", path_, errno));
  if (count < static_cast<ssize_t>(old_head_bytes)) {
    return count == 0 ? stop(SpoolEnd::clean, "") : stop(SpoolEnd::torn, "the head of the file is cut");
  }
  const std::byte* at = head + 8;
  const auto format = take<std::uint32_t>(at);
  const auto attempt = take<std::uint32_t>(at);
  const char* const id = reinterpret_cast<const char*>(at);
  if (std::memcmp(head, "encspool", 8) != 0) return stop(SpoolEnd::damaged, "not a spool");
  if (format > spool_format)
    return stop(SpoolEnd::refused, "format " + std::to_string(format) +
                                       " is not known to this program; was it written by a newer one?");
  const bool has_id = format > 1;
  if (has_id && count < static_cast<ssize_t>(spool_head_bytes))
    return stop(SpoolEnd::torn, "the head of the file is cut");
  at = head + spool_head_bytes - 4;
  if (has_id && take<std::uint32_t>(at) != crc32({head, spool_head_bytes - 4}))
    return stop(SpoolEnd::damaged, "the checksum of the head differs");
  if (format == 0 || attempt == 0 || attempt > 1u << 30)
    return stop(SpoolEnd::damaged, "the head holds no attempt number");
  const std::string run = has_id ? std::string(id, ::strnlen(id, spool_run_bytes)) : std::string();
  if (!is_owned({run, static_cast<int>(attempt)})) return false;
  offset_ = std::max<std::uint64_t>(offset_, has_id ? spool_head_bytes : old_head_bytes);
  struct stat status {};
  if (::fstat(file_->descriptor(), &status) == 0 && static_cast<std::uint64_t>(status.st_size) < offset_) {
    return stop(SpoolEnd::damaged, "the file is shorter than what was already read from it");
  }
  attempt_ = static_cast<int>(attempt);
  format_ = format;
  return true;
}

bool SpoolReader::is_owned(const SpoolOwner& found) {
  const std::string hint = "; was it copied here?";
  if (!found.run.empty() && !owner_.run.empty() && found.run != owner_.run)
    return stop(SpoolEnd::refused,
                "this is the spool of run " + found.run + ", not of run " + owner_.run + hint);
  if (owner_.attempt != 0 && found.attempt != owner_.attempt)
    return stop(SpoolEnd::refused, "this is the spool of attempt " + std::to_string(found.attempt) +
                                       ", not of attempt " + std::to_string(owner_.attempt) + hint);
  return true;
}

std::optional<SpoolGap> SpoolReader::skip_damage(std::uint64_t within) {
  // A damaged length may look like a frame that is cut.
  if ((end_ != SpoolEnd::damaged && end_ != SpoolEnd::torn) || !file_) return std::nullopt;
  struct stat status {};
  if (::fstat(file_->descriptor(), &status) != 0) return std::nullopt;
  const auto file_bytes = static_cast<std::uint64_t>(status.st_size);
  const std::uint64_t most_work =
      within < file_bytes ? std::min(16 * within, 8 * file_bytes) : 8 * file_bytes;
  SpoolGap gap{offset_, 0, sequence_ + 1, 0};
  while (offset_ - gap.first_byte < within && fill(spool_frame_head_bytes + spool_record_head_bytes)) {
    if (const auto sequence = sequence_of_whole_frame(file_bytes, most_work)) {
      gap.end_byte = offset_;
      gap.last_record = *sequence - 1;
      continue_behind(gap);
      return gap;
    }
    ++begin_;
    ++offset_;
  }
  offset_ = gap.first_byte;
  begin_ = filled_ = 0;
  return std::nullopt;
}

void SpoolReader::continue_behind(const SpoolGap& gap) {
  if (offset_ != gap.end_byte) begin_ = filled_ = 0;
  offset_ = gap.end_byte;
  sequence_ = gap.last_record;
  if (attempt_ == 0) attempt_ = std::max(owner_.attempt, 1);  // the head itself is damaged
  stop(SpoolEnd::clean, "");
}

/// Returns the sequence number of the frame at the current place, if that number is larger than the last one
/// read. Reads and hashes nothing for a length that exceeds the file, or for a number that no record of the
/// file can have.
std::optional<std::uint64_t> SpoolReader::sequence_of_whole_frame(std::uint64_t file_bytes,
                                                                  std::uint64_t most_work) {
  const std::byte* at = buffer_.data() + begin_;
  const auto length = take<std::uint32_t>(at);
  const auto checksum = take<std::uint32_t>(at);
  const auto sequence = take<std::uint64_t>(at);
  const auto kind = take<std::uint8_t>(at);
  if (length < spool_record_head_bytes || length > spool_frame_limit || sequence <= sequence_)
    return std::nullopt;
  if (offset_ + spool_frame_head_bytes + length > file_bytes) return std::nullopt;
  // Records have at least these bytes; a missing part may have held as many more as the longest
  // file.
  constexpr std::uint64_t missing_records = std::uint64_t{1} << 40;
  if (sequence - sequence_ >
      file_bytes / (spool_frame_head_bytes + spool_record_head_bytes) + missing_records)
    return std::nullopt;
  if (kind < static_cast<std::uint8_t>(SpoolKind::metric) ||
      kind > static_cast<std::uint8_t>(SpoolKind::event))
    return std::nullopt;
  if (searched_ + length > most_work) return std::nullopt;
  searched_ += length;
  if (!fill(spool_frame_head_bytes + length)) return std::nullopt;
  const std::byte* payload = buffer_.data() + begin_ + spool_frame_head_bytes;
  return crc32({payload, length}) == checksum ? std::optional(sequence) : std::nullopt;
}

bool SpoolReader::fill(std::size_t needed) {
  if (filled_ - begin_ >= needed) return true;
  if (begin_ < filled_) std::memmove(buffer_.data(), buffer_.data() + begin_, filled_ - begin_);
  filled_ -= begin_;
  begin_ = 0;
  ahead_ = std::min(std::max(2 * ahead_, least_read_ahead), read_ahead);
  struct stat status {};
  const bool is_known = ::fstat(file_->descriptor(), &status) == 0;
  if (needed > read_ahead && is_known && offset_ + needed > static_cast<std::uint64_t>(status.st_size))
    return false;  // takes no memory for bytes that the file does not have
  const std::size_t capacity = std::max(needed, ahead_);
  if (buffer_.size() < capacity) buffer_.resize(capacity);
  while (filled_ < needed) {
    // pread leaves the position of the descriptor alone, because this object keeps its own.
    const ssize_t count = ::pread(file_->descriptor(), buffer_.data() + filled_, buffer_.size() - filled_,
                                  static_cast<off_t>(offset_ + filled_));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) throw Error(world::system_message("read", path_, errno));
    if (count == 0) return false;
    filled_ += static_cast<std::size_t>(count);
  }
  return true;
}

bool SpoolReader::stop(SpoolEnd end, const std::string& reason) {
  end_ = end;
  // On a network file system the end of a growing file may look damaged for a moment: a later call reads it
  // again.
  if (end == SpoolEnd::damaged) begin_ = filled_ = ahead_ = 0;
  problem_ =
      reason.empty() ? "" : path_.filename().string() + ": byte " + std::to_string(offset_) + ": " + reason;
  return false;
}

}  // namespace encore::record
