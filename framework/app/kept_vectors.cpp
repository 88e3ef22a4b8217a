// SPDX-License-Identifier: BSD-3-Clause
// The form of FOLDER.vectors: a line of JSON, then records of equal size: a key (the first digits of the
// SHA-256 of the text), the float32 values, and a checksum of both. Read kept_vectors.hpp first.
#include "app/kept_vectors.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/json_fields.hpp"
#include "base/json_text.hpp"
#include "base/sha256.hpp"

namespace encore::app {

namespace {

constexpr std::size_t key_bytes = 32, check_bytes = 8, most_head_bytes = 4096;
constexpr std::int64_t most_width = 65536;

/// The first line of the file.
struct KeptHead {
  std::int64_t format = 1;
  std::string weights = {};
  std::int64_t width = 0;
};
void list(auto& field, A<KeptHead> auto& head) {
  field("format", head.format);
  field("weights", head.weights);
  field("width", head.width);
}

std::string key_of(const std::string& text) {
  return sha256(text).substr(0, key_bytes);
}

std::string checksum_of(std::string_view key_and_values) {
  return sha256(key_and_values).substr(0, check_bytes);
}

/// Reads `count` bytes at a place; fewer at the end of the file.
std::string bytes_at(const world::FileDescriptor& file, const std::filesystem::path& path,
                     std::uint64_t place, std::size_t count) {
  std::string bytes(count, '\0');
  std::size_t have = 0;
  while (have < count) {
    const ssize_t some =
        ::pread(file.get(), bytes.data() + have, count - have, static_cast<off_t>(place + have));
    if (some < 0 && errno == EINTR) continue;
    if (some < 0) throw Error(world::system_message("read", path, errno));
    if (some == 0) break;
    have += static_cast<std::size_t>(some);
  }
  bytes.resize(have);
  return bytes;
}

/// Returns the first line of the file, without its end; "" if there is none.
std::string head_line(const world::FileDescriptor& file, const std::filesystem::path& path) {
  const std::string bytes = bytes_at(file, path, 0, most_head_bytes);
  const std::size_t end = bytes.find('\n');
  return end == std::string::npos ? "" : bytes.substr(0, end);
}

KeptHead head_in(const std::string& line) {
  try {
    return from_json_object<KeptHead>(parse_json(line));
  } catch (const std::exception&) {
    return {.format = 0};
  }
}

}  // namespace

KeptVectors::KeptVectors(std::filesystem::path file, const IndexEncoder& encoder)
    : path_(std::move(file)), weights_(encoder.weights) {
  std::error_code ignored;
  if (!std::filesystem::exists(path_, ignored)) return;
  file_ = world::open_file(path_, O_RDWR);
  const std::string line = head_line(file_, path_);
  const KeptHead head = head_in(line);
  if (head.format != KeptHead().format || head.weights != weights_ || head.width < 1 ||
      head.width > most_width) {
    file_.close();
    remove();
    return;
  }
  width_ = static_cast<std::size_t>(head.width);
  end_ = line.size() + 1;
  read_records();
}

std::size_t KeptVectors::record_bytes() const {
  return key_bytes + width_ * sizeof(float) + check_bytes;
}

void KeptVectors::read_records() {
  for (;;) {
    const std::string record = bytes_at(file_, path_, end_, record_bytes());
    const std::size_t content = record_bytes() - check_bytes;
    if (record.size() < record_bytes() ||
        checksum_of(std::string_view(record).substr(0, content)) != record.substr(content))
      break;
    places_[record.substr(0, key_bytes)] = end_ + key_bytes;
    end_ += record.size();
  }
  if (::ftruncate(file_.get(), static_cast<off_t>(end_)) != 0)
    throw Error(world::system_message("write", path_, errno));
}

void KeptVectors::begin_file(std::size_t width) {
  width_ = width;
  file_ = world::open_file(path_, O_RDWR | O_CREAT | O_TRUNC);
  const KeptHead head{.weights = weights_, .width = static_cast<std::int64_t>(width)};
  buffer_ = to_json_object(head).dump() + "\n";
}

bool KeptVectors::has(const std::string& text) const {
  return places_.contains(key_of(text));
}

std::vector<float> KeptVectors::vector_of(const std::string& text) const {
  const auto found = places_.find(key_of(text));
  ENCORE_REQUIRE(found != places_.end() && buffer_.empty(), "the vector is in the file");
  const std::string bytes = bytes_at(file_, path_, found->second, width_ * sizeof(float));
  if (bytes.size() != width_ * sizeof(float))
    throw Error(path_.string() + " was changed while it was read; run the command again");
  std::vector<float> vector(width_);
  std::memcpy(vector.data(), bytes.data(), bytes.size());
  return vector;
}

void KeptVectors::add(const std::string& text, const std::vector<float>& vector) {
  if (width_ == 0) begin_file(vector.size());
  if (vector.size() != width_)
    throw Error("the model gave a vector of width " + std::to_string(vector.size()) + ": expected " +
                std::to_string(width_));
  std::string record = key_of(text);
  places_[record] = end_ + buffer_.size() + key_bytes;
  record.append(reinterpret_cast<const char*>(vector.data()), vector.size() * sizeof(float));
  buffer_ += record + checksum_of(record);
}

void KeptVectors::flush() {
  if (buffer_.empty()) return;
  if (::lseek(file_.get(), static_cast<off_t>(end_), SEEK_SET) < 0)
    throw Error(world::system_message("write", path_, errno));
  world::write_all(file_.get(), std::as_bytes(std::span(buffer_)), path_);
  end_ += buffer_.size();
  buffer_.clear();
}

void KeptVectors::remove() {
  std::error_code ignored;
  std::filesystem::remove(path_, ignored);
}

}  // namespace encore::app
