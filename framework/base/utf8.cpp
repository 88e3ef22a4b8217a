// SPDX-License-Identifier: BSD-3-Clause
// Validates and decodes UTF-8 for readers of files and for text that a model writes. The table of well-formed
// sequences is Table 3-7 of the Unicode standard. Results depend on which bytes become U+FFFD, so this must
// stay Unicode's rule. Read utf8.hpp first.
#include "base/utf8.hpp"

#include <cstdint>
#include <cstring>

namespace encore {
namespace {

constexpr std::string_view replacement = "\xEF\xBF\xBD";

enum class Form : std::uint8_t { whole, cut_off, invalid };

/// The sequence at the start of bytes: a character, the first bytes of one, or the maximal subpart of an
/// ill-formed sequence.
struct Sequence {
  std::size_t length;
  Form form;
};

/// Returns the sequence at `p`. `left` is the number of bytes there, at least 1.
Sequence first_sequence(const unsigned char* p, std::size_t left) {
  const unsigned char lead = p[0];
  if (lead < 0x80) return {1, Form::whole};
  if (lead < 0xC2 || lead > 0xF4) return {1, Form::invalid};
  const std::size_t length = lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
  unsigned char low = 0x80, high = 0xBF;
  if (lead == 0xE0) low = 0xA0;   // overlong
  if (lead == 0xED) high = 0x9F;  // surrogates
  if (lead == 0xF0) low = 0x90;   // overlong
  if (lead == 0xF4) high = 0x8F;  // above U+10FFFF
  for (std::size_t i = 1; i < length; ++i) {
    if (i == left) return {i, Form::cut_off};
    if (p[i] < low || p[i] > high) return {i, Form::invalid};
    low = 0x80;
    high = 0xBF;
  }
  return {length, Form::whole};
}

}  // namespace

std::optional<std::size_t> find_invalid_utf8(std::string_view text) {
  const auto* bytes = reinterpret_cast<const unsigned char*>(text.data());
  std::size_t at = 0;
  while (at < text.size()) {
    std::uint64_t eight = 0;
    if (at + sizeof eight <= text.size()) {
      std::memcpy(&eight, bytes + at, sizeof eight);
      if ((eight & 0x8080808080808080u) == 0) {
        at += sizeof eight;
        continue;
      }
    }
    const Sequence sequence = first_sequence(bytes + at, text.size() - at);
    if (sequence.form != Form::whole) return at;
    at += sequence.length;
  }
  return std::nullopt;
}

std::string Utf8Decoder::add(std::string_view bytes) {
  std::string whole;  // used only if bytes of the last call wait; otherwise the bytes are decoded in place
  if (!cut_off_.empty()) {
    whole = cut_off_.append(bytes);
    bytes = whole;
    cut_off_.clear();
  }
  std::string text;
  text.reserve(bytes.size());
  while (!bytes.empty()) {
    const std::size_t valid = find_invalid_utf8(bytes).value_or(bytes.size());
    text += bytes.substr(0, valid);
    bytes.remove_prefix(valid);
    if (bytes.empty()) break;
    const Sequence sequence =
        first_sequence(reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size());
    if (sequence.form == Form::cut_off) {
      cut_off_ = bytes;
      break;
    }
    text += replacement;
    bytes.remove_prefix(sequence.length);
  }
  return text;
}

std::string Utf8Decoder::finish() {
  const bool waits = !cut_off_.empty();
  cut_off_.clear();
  return std::string(waits ? replacement : std::string_view());
}

std::string valid_utf8(std::string_view bytes) {
  Utf8Decoder decoder;
  std::string text = decoder.add(bytes);
  return text += decoder.finish();
}

std::string_view without_byte_order_mark(std::string_view text) {
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  return text;
}

}  // namespace encore
