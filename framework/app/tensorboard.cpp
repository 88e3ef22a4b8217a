// SPDX-License-Identifier: BSD-3-Clause
// Writes scalars as TensorBoard's event files for `exp dump` (dump.cpp): checksums, and the wire format of
// protobuf. TensorBoard defines every byte, so nothing here may change; tests/unit/cli/tensorboard_test.cpp
// holds the bytes. Read next: dump.hpp.
#include "app/dump.hpp"

#include <array>
#include <bit>
#include <cstring>

namespace encore::app {

namespace {

static_assert(std::endian::native == std::endian::little, "the fixed-width fields are little endian");

constexpr auto crc_table = [] {
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    table[byte] = byte;
    for (int bit = 0; bit < 8; ++bit) table[byte] = (table[byte] >> 1) ^ (table[byte] & 1 ? 0x82F63B78u : 0u);
  }
  return table;
}();

template <class T>
std::string fixed(T value) {
  std::string bytes(sizeof value, '\0');
  std::memcpy(bytes.data(), &value, sizeof value);
  return bytes;
}

std::string varint(std::uint64_t value) {
  std::string bytes;
  for (; value >= 0x80; value >>= 7) bytes += static_cast<char>(value | 0x80);
  return bytes + static_cast<char>(value);
}

/// Protobuf's wire types.
enum Wire : std::uint64_t { wire_varint = 0, wire_double = 1, wire_bytes = 2, wire_float = 5 };

std::string key(std::uint64_t field, Wire wire) {
  return varint(field << 3 | wire);
}

std::string bytes_field(std::uint64_t field, std::string_view bytes) {
  return key(field, wire_bytes) + varint(bytes.size()) + std::string(bytes);
}

/// Masks a CRC (rotates it and adds a constant), because a CRC of data that holds CRCs is weak.
std::string masked_crc(std::string_view bytes) {
  return fixed(std::rotr(crc32c(bytes), 15) + 0xa282ead8u);
}

}  // namespace

std::uint32_t crc32c(std::string_view bytes) {
  std::uint32_t remainder = ~0u;
  for (const char byte : bytes)
    remainder = (remainder >> 8) ^ crc_table[(remainder ^ static_cast<unsigned char>(byte)) & 0xFF];
  return ~remainder;
}

std::string tensorboard_record(std::string_view data) {
  const std::string length = fixed(static_cast<std::uint64_t>(data.size()));
  return length + masked_crc(length) + std::string(data) + masked_crc(data);
}

std::string tensorboard_head(double wall_time) {
  // Event: wall_time = 1, file_version = 3.
  return tensorboard_record(key(1, wire_double) + fixed(wall_time) + bytes_field(3, "brain.Event:2"));
}

std::string tensorboard_scalar(std::string_view tag, std::int64_t step, double value, double wall_time) {
  // Event: wall_time = 1, step = 2, summary = 5; Summary: value = 1; Value: tag = 1, simple_value = 2.
  const std::string scalar = bytes_field(1, tag) + key(2, wire_float) + fixed(static_cast<float>(value));
  return tensorboard_record(key(1, wire_double) + fixed(wall_time) + key(2, wire_varint) +
                            varint(static_cast<std::uint64_t>(step)) +
                            bytes_field(5, bytes_field(1, scalar)));
}

}  // namespace encore::app
