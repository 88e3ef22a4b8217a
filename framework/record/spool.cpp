// SPDX-License-Identifier: BSD-3-Clause
// SpoolWriter: encodes events and points as frames, and appends them to the spool through one buffer. The
// worker's trainer calls it. Spools of all versions must stay readable, so a change of the layout needs a new
// spool_format. Read spool.hpp first.
#include "record/spool.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <span>

#include <nlohmann/json.hpp>

#include <encore/error.hpp>
#include <encore/measure.hpp>

#include "base/crc32.hpp"
#include "base/measure_json.hpp"
#include "record/spool_reader.hpp"

namespace encore::record {

namespace {

constexpr std::size_t buffer_limit = 64u << 10;

template <class T>
std::byte* put(std::byte* to, T value) {
  std::memcpy(to, &value, sizeof value);
  return to + sizeof value;
}

void put_text(std::vector<std::byte>& to, std::string_view text) {
  const auto length = static_cast<std::uint16_t>(text.size());
  const std::size_t at = to.size();
  to.resize(at + sizeof length + text.size());
  std::memcpy(put(to.data() + at, length), text.data(), text.size());
}

void put_head(std::byte* to, int attempt, const std::string& run) {
  std::memset(to, 0, spool_head_bytes);
  std::memcpy(to, "encspool", 8);
  std::byte* const id = put(put(to + 8, spool_format), static_cast<std::uint32_t>(attempt));
  std::memcpy(id, run.data(), run.size());
  put(to + spool_head_bytes - 4, crc32({to, spool_head_bytes - 4}));
}

/// Returns what a metric means, as its record has it. The help stays in the manifest.
std::string meaning_of(const Measure& measure) {
  nlohmann::json json = encore::json_of(measure);
  json.erase("help");
  json.erase("unit");
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

double seconds_now() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

}  // namespace

std::string spool_name(int attempt) {
  char name[32];
  std::snprintf(name, sizeof name, "attempt-%04d.spool", attempt);
  return name;
}

SpoolWriter::SpoolWriter(std::filesystem::path path, int attempt, const std::string& run, unsigned mode)
    : path_(std::move(path)) {
  ENCORE_REQUIRE(attempt > 0, "attempts count from 1");
  ENCORE_REQUIRE(run.size() <= spool_run_bytes, "the head has room for the id of a run");
  file_ = world::open_file(path_, O_RDWR | O_CREAT, mode);
  if (::flock(file_.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
    throw Error(path_.string() + ": another worker writes this spool; let it end first");
  }
  SpoolReader reader(path_, SpoolOwner{run, attempt});
  SpoolRecord record;
  while (reader.next(record)) {
    if (record.kind == SpoolKind::metric) metrics_[record.name] = record.metric;
  }
  const bool unusable = reader.end() == SpoolEnd::damaged || reader.end() == SpoolEnd::refused;
  if (unusable && reader.offset() == 0) {
    throw Error(reader.problem() + "; move the file away to continue");
  }
  sequence_ = reader.sequence();
  if (reader.format() > 0) format_ = reader.format();
  const auto end = static_cast<off_t>(reader.offset());
  if (::ftruncate(file_.get(), end) != 0 || ::lseek(file_.get(), end, SEEK_SET) < 0) {
    throw Error(world::system_message("write", path_, errno));
  }
  buffer_.resize(buffer_limit + 1024);
  if (end == 0) {
    put_head(buffer_.data(), attempt, run);
    used_ = spool_head_bytes;
    flush();
  }
}

SpoolWriter::~SpoolWriter() {
  try {
    flush();
  } catch (const std::exception&) {
    // spool.hpp asks callers for sync() first; a destructor cannot report an error.
  }
}

std::uint32_t SpoolWriter::define(std::string_view name, std::string_view unit) {
  return define(name, unit, "");
}

void SpoolWriter::define(std::string_view name, const Measure& measure) {
  if (measure.reducer == Reducer::matrix) {
    define(name, measure.unit, meaning_of(measure));
    return;
  }
  promised_.push_back({.name = std::string(name.substr(0, name.find('{'))),
                       .is_family = is_family(measure),
                       .unit = measure.unit,
                       .meaning = meaning_of(measure)});
}

std::uint32_t SpoolWriter::define_on_first_use(std::string_view name) {
  for (const Promise& promise : promised_)
    if (promise.is_family ? name.starts_with(promise.name) : name == promise.name)
      return define(name, promise.unit, promise.meaning);
  return define(name, "", "");
}

std::uint32_t SpoolWriter::define(std::string_view name, std::string_view unit, std::string_view meaning) {
  if (const auto found = metrics_.find(name); found != metrics_.end()) return found->second;
  ENCORE_REQUIRE(!name.empty() && name.size() < 1024 && unit.size() < 1024 && meaning.size() < 1u << 16,
                 "a metric has a short name");
  const auto number = static_cast<std::uint32_t>(metrics_.size() + 1);
  std::vector<std::byte> body(sizeof number);
  put(body.data(), number);
  put_text(body, name);
  put_text(body, unit);
  if (format_ > 2) put_text(body, meaning);
  append(SpoolKind::metric, body.data(), body.size());
  metrics_.emplace(name, number);
  return number;
}

void SpoolWriter::point(std::string_view name, std::int64_t step, double value) {
  const auto found = metrics_.find(name);
  const std::uint32_t number = found != metrics_.end() ? found->second : define_on_first_use(name);
  std::byte body[sizeof number + sizeof step + sizeof value];
  put(put(put(body, number), step), value);
  append(SpoolKind::point, body, sizeof body);
}

void SpoolWriter::event(const Event& event) {
  event_text(record::event_text(event, seconds_now()));
}

void SpoolWriter::event_text(std::string_view text) {
  append(SpoolKind::event, reinterpret_cast<const std::byte*>(text.data()), text.size());
  flush();
}

void SpoolWriter::append(SpoolKind kind, const std::byte* body, std::size_t size) {
  const std::size_t payload = spool_record_head_bytes + size;
  ENCORE_REQUIRE(payload <= spool_frame_limit, "a record is at most 64 MiB; large things are artifacts");
  const std::size_t frame = spool_frame_head_bytes + payload;
  if (used_ + frame > buffer_limit && used_ > 0) flush();
  if (used_ + frame > buffer_.size()) buffer_.resize(used_ + frame);
  std::byte* const start = buffer_.data() + used_;
  std::byte* at = put(start + spool_frame_head_bytes, ++sequence_);
  at = put(at, kind);
  std::memcpy(at, body, size);
  put(start, static_cast<std::uint32_t>(payload));
  put(start + 4, crc32({start + spool_frame_head_bytes, payload}));
  used_ += frame;
}

void SpoolWriter::flush() {
  std::size_t written = 0;
  try {
    world::write_all(file_.get(), {buffer_.data(), used_}, path_, &written);
  } catch (const Error&) {
    // Written bytes stay written: the next flush begins at the byte where this one stopped.
    std::memmove(buffer_.data(), buffer_.data() + written, used_ - written);
    used_ -= written;
    throw;
  }
  used_ = 0;
}

void SpoolWriter::sync() {
  flush();
  if (::fdatasync(file_.get()) != 0) throw Error(world::system_message("write", path_, errno));
}

void define_measures(SpoolWriter& spool, std::span<const std::string> splits,
                     std::span<const encore::Measure> measures) {
  for (const std::string& split : splits)
    for (const Measure& measure : measures) spool.define(split + "/" + measure.name, measure);
}

}  // namespace encore::record
