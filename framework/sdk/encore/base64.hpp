// SPDX-License-Identifier: BSD-3-Clause
// Base64 (RFC 4648): binary bytes as one line of text, and back. It is called by a tokenizer that keeps a
// binary model among the lines of its vocabulary (plugins/tokenizers/unigram.cpp), and by the writers of HTML
// pages with pictures and numbers. The functions are pure and can be called by any thread. Stored
// vocabularies hold this encoding, so it must not change.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include <encore/error.hpp>

namespace encore {

inline constexpr std::string_view base64_letters =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

inline std::string to_base64(std::string_view bytes) {
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t three = 0;
    for (std::size_t k = 0; k < 3; ++k)
      three = three << 8 | (i + k < bytes.size() ? static_cast<unsigned char>(bytes[i + k]) : 0U);
    for (std::size_t k = 0; k < 4; ++k)
      text += i + k > bytes.size() ? '=' : base64_letters[three >> (18 - 6 * k) & 63];
  }
  return text;
}

/// Returns the bytes of a text that to_base64 wrote. Throws Error if the length or a letter is invalid.
inline std::string from_base64(std::string_view text) {
  static constexpr std::uint8_t no_letter = 64;
  static constexpr std::array<std::uint8_t, 256> values = [] {
    std::array<std::uint8_t, 256> all = {};
    all.fill(no_letter);
    for (std::size_t i = 0; i < base64_letters.size(); ++i)
      all[static_cast<unsigned char>(base64_letters[i])] = static_cast<std::uint8_t>(i);
    return all;
  }();
  const std::size_t padding = text.ends_with("==") ? 2 : text.ends_with('=') ? 1 : 0;
  if (text.size() % 4 != 0) throw Error("a base64 text has " + std::to_string(text.size()) + " letters");
  std::string bytes;
  bytes.reserve(text.size() / 4 * 3);
  std::uint32_t bits = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool is_padding = i + padding >= text.size();
    const std::uint8_t value = is_padding ? 0 : values[static_cast<unsigned char>(text[i])];
    if (value == no_letter) throw Error("a base64 text has an unknown letter at place " + std::to_string(i));
    bits = bits << 6 | value;
    if (i % 4 != 3) continue;
    for (const int shift : {16, 8, 0}) bytes += static_cast<char>(bits >> shift & 0xFF);
    bits = 0;
  }
  bytes.resize(bytes.size() - padding);
  return bytes;
}

}  // namespace encore
