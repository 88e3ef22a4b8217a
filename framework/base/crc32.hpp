// SPDX-License-Identifier: BSD-3-Clause
// crc32(): the checksum of zip and PNG, computed for eight bytes in each step. record/spool.cpp appends it to
// each record and record/spool_reader.cpp checks it. It must be fast, because a spool has one for each
// measured point. Stored spools hold its values, so the polynomial never changes.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace encore {

namespace crc32_detail {

constexpr auto tables = [] {
  std::array<std::array<std::uint32_t, 256>, 8> result{};
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    std::uint32_t remainder = byte;
    for (int bit = 0; bit < 8; ++bit) remainder = (remainder >> 1) ^ (remainder & 1 ? 0xEDB88320u : 0u);
    result[0][byte] = remainder;
  }
  for (std::size_t table = 1; table < 8; ++table)
    for (std::size_t byte = 0; byte < 256; ++byte)
      result[table][byte] = (result[table - 1][byte] >> 8) ^ result[0][result[table - 1][byte] & 0xFF];
  return result;
}();

}  // namespace crc32_detail

inline std::uint32_t crc32(std::span<const std::byte> bytes) {
  static_assert(std::endian::native == std::endian::little);
  const auto& tables = crc32_detail::tables;
  std::uint32_t remainder = ~0u;
  std::size_t at = 0;
  for (; at + 8 <= bytes.size(); at += 8) {
    std::uint32_t low = 0, high = 0;
    std::memcpy(&low, bytes.data() + at, 4);
    std::memcpy(&high, bytes.data() + at + 4, 4);
    low ^= remainder;
    remainder = tables[7][low & 0xFF] ^ tables[6][low >> 8 & 0xFF] ^ tables[5][low >> 16 & 0xFF] ^
                tables[4][low >> 24] ^ tables[3][high & 0xFF] ^ tables[2][high >> 8 & 0xFF] ^
                tables[1][high >> 16 & 0xFF] ^ tables[0][high >> 24];
  }
  for (; at < bytes.size(); ++at)
    remainder = (remainder >> 8) ^ tables[0][(remainder ^ static_cast<std::uint32_t>(bytes[at])) & 0xFF];
  return ~remainder;
}

}  // namespace encore
