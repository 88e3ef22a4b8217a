// SPDX-License-Identifier: BSD-3-Clause
// SpoolWriter: writes the spool, the file to which a worker appends the events of an attempt, for the control
// program. Layout, little endian: head of 32 bytes ["encspool"][u32 format][u32 attempt][12 bytes run id,
// zero-padded][u32 crc32 of these 28 bytes]; frames [u32 length][u32 crc32 of payload][payload]; payload =
// u64 sequence (from 1, no gaps), u8 kind, body. Format 2 had metrics without meaning, format 1 also a head
// of 16 bytes. The file is only appended to, so a crash leaves a valid file, perhaps with an incomplete last
// frame. Spools of all versions must stay readable, so a change of the layout needs a new spool_format. Read
// next: spool_reader.hpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "record/events.hpp"
#include "world/file_descriptor.hpp"

namespace encore {
struct Measure;
}

namespace encore::record {

enum class SpoolKind : std::uint8_t {
  metric = 1,  ///< u32 number, three strings (u16 length, bytes): name, unit, meaning (a measure as JSON
               ///< without its help, or empty; from format 3 on): before the first point of that name
  point = 2,   ///< u32 metric number, i64 step, f64 value with all its bits
  event = 3,   ///< JSON text, see events.hpp
};

inline constexpr std::size_t spool_head_bytes = 32;
inline constexpr std::uint32_t spool_format = 3;
inline constexpr std::size_t spool_run_bytes = 12;             ///< of the head, for the run's id
inline constexpr std::size_t spool_frame_head_bytes = 8;       ///< length and checksum
inline constexpr std::size_t spool_record_head_bytes = 9;      ///< sequence and kind
inline constexpr std::uint32_t spool_frame_limit = 64u << 20;  ///< a longer frame is taken for damage

/// Returns "attempt-0001.spool".
std::string spool_name(int attempt);

/// Says to which run and attempt a spool belongs.
struct SpoolOwner {
  std::string run = {};  ///< id; empty: unknown (format 1, a measurement), which fits any run
  int attempt = 0;       ///< 0 fits any
};

/// Writes records. Points are buffered (about 0.1 microseconds each). An event passes everything before it to
/// the operating system too, so that a watching `exp` sees it at once; only `sync` waits for the disk. One
/// thread at a time may use it; a second writer on the same file is refused.
class SpoolWriter {
 public:
  /// Makes the file, or continues after the last valid frame of an existing file of the same attempt and run,
  /// in the format of that file. `run` is an id, or empty if no run is recorded. `mode` has the permissions
  /// of a new file.
  SpoolWriter(std::filesystem::path path, int attempt, const std::string& run = "", unsigned mode = 0644);
  /// Flushes. An error is lost here, so call `sync` before.
  ~SpoolWriter();
  SpoolWriter(const SpoolWriter&) = delete;
  SpoolWriter& operator=(const SpoolWriter&) = delete;

  /// Defines a metric with its unit ("1/s", "tokens"); `point` defines one without a unit on first use.
  std::uint32_t define(std::string_view name, std::string_view unit = "");
  /// Defines what a metric ("dev/f1") or each member of a family ("dev/f1/{label}") means. Its record comes
  /// before its first point, so that metrics are numbered in the order of points. A table has no points, so
  /// its record is written at once.
  void define(std::string_view name, const Measure& measure);
  void point(std::string_view name, std::int64_t step, double value);
  /// Writes an event with the current time.
  void event(const Event& event);
  /// Writes an event that is JSON already.
  void event_text(std::string_view text);

  /// Passes everything to the operating system. Throws Error if that fails (full disk). Nothing is lost by
  /// it: the next flush continues where this one stopped.
  void flush();
  /// Flushes and calls fsync: on return everything survives a power cut.
  void sync();

  /// Returns the sequence number of the last record, 0 before the first.
  std::uint64_t sequence() const { return sequence_; }
  const std::filesystem::path& path() const { return path_; }

 private:
  struct NameHash {
    using is_transparent = void;
    std::size_t operator()(std::string_view name) const { return std::hash<std::string_view>()(name); }
  };
  /// A metric, or a family of metrics, whose record is written before its first point.
  struct Promise {
    std::string name;  ///< of a family: what the names of its members begin with
    bool is_family = false;
    std::string unit, meaning;
  };
  std::uint32_t define(std::string_view name, std::string_view unit, std::string_view meaning);
  std::uint32_t define_on_first_use(std::string_view name);
  void append(SpoolKind kind, const std::byte* body, std::size_t size);

  std::filesystem::path path_;
  world::FileDescriptor file_;
  std::vector<std::byte> buffer_;
  std::size_t used_ = 0;
  std::uint64_t sequence_ = 0;
  std::uint32_t format_ = spool_format;
  std::vector<Promise> promised_;  ///< metrics to be defined at their first point
  std::unordered_map<std::string, std::uint32_t, NameHash, std::equal_to<>> metrics_;
};

/// Defines the measures of a task on these splits ("dev", "test").
void define_measures(SpoolWriter& spool, std::span<const std::string> splits,
                     std::span<const Measure> measures);

}  // namespace encore::record
