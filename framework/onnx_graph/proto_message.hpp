// SPDX-License-Identifier: BSD-3-Clause
// ProtoMessage writes the fields of one message in the wire format of protocol buffers: a key (number of the
// field, kind of value) before each value. ONNX files are such messages; these five functions suffice for the
// eight messages of a graph, so no program has to link the library of protocol buffers. onnx_file.cpp uses
// it. The format is that of protocol buffers and must stay.
#pragma once

#include <bit>
#include <cstdint>
#include <string>
#include <string_view>

namespace encore::onnx_graph {

class ProtoMessage {
 public:
  /// Writes a number with seven bits per byte, the lowest first; negative ones take ten bytes.
  void integer(int field, std::int64_t value) {
    key(field, 0);
    varint(static_cast<std::uint64_t>(value));
  }
  void number(int field, float value) {
    key(field, 5);
    for (std::uint32_t bits = std::bit_cast<std::uint32_t>(value), i = 0; i < 4; ++i, bits >>= 8U)
      bytes_.push_back(static_cast<char>(bits & 0xFFU));
  }
  void text(int field, std::string_view value) {
    begin(field, value.size());
    bytes_ += value;
  }
  void message(int field, const ProtoMessage& value) { text(field, value.bytes_); }
  /// Writes what precedes a value of that many bytes, which follow elsewhere.
  void begin(int field, std::uint64_t size) {
    key(field, 2);
    varint(size);
  }

  const std::string& bytes() const { return bytes_; }

 private:
  void key(int field, std::uint64_t kind) { varint(static_cast<std::uint64_t>(field) << 3U | kind); }
  void varint(std::uint64_t value) {
    for (; value >= 0x80U; value >>= 7U) bytes_.push_back(static_cast<char>((value & 0x7FU) | 0x80U));
    bytes_.push_back(static_cast<char>(value));
  }

  std::string bytes_;
};

}  // namespace encore::onnx_graph
