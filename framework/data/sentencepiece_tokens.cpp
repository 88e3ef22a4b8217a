// SPDX-License-Identifier: BSD-3-Clause
// Reads the tokens of a SentencePiece model from its file in the wire format of protocol buffers: a field is
// a key (its number times 8, plus how it is stored) and the value. A message, string or bytes field is a
// length and as many bytes. vocabulary.cpp calls it. The file is untrusted. The format is that of
// SentencePiece, and the order of tokens numbers them, so neither may change. Read vocabulary.hpp
// first.
#include "data/vocabulary.hpp"

#include <bit>
#include <cstdint>
#include <optional>

#include <encore/error.hpp>

#include "base/utf8.hpp"

namespace encore::data {
namespace {

[[noreturn]] void refuse(const std::string& problem) {
  throw Error("invalid SentencePiece model: " + problem);
}

struct WireField {
  std::uint64_t number = 0;
  std::string_view bytes;   ///< the content of a field that has a length; else empty
  std::uint32_t fixed = 0;  ///< the content of a field of four bytes
};

/// Iterates over the fields of one message, in their order.
class WireMessage {
 public:
  explicit WireMessage(std::string_view bytes) : rest_(bytes) {}

  std::optional<WireField> next() {
    if (rest_.empty()) return std::nullopt;
    const std::uint64_t key = integer();
    WireField field = {.number = key >> 3, .bytes = {}};
    std::string_view four;
    switch (key & 7) {
      case 0:
        integer();
        break;
      case 1:
        take(8);
        break;
      case 2:
        field.bytes = take(integer());
        break;
      case 5:
        four = take(4);
        for (unsigned i = 0; i < 4; ++i)
          field.fixed |= std::uint32_t{static_cast<unsigned char>(four[i])} << (8 * i);
        break;
      default:
        refuse("a field has an unknown wire type");
    }
    return field;
  }

 private:
  std::string_view take(std::uint64_t count) {
    if (count > rest_.size()) refuse("it ends within a field");
    const std::string_view taken = rest_.substr(0, static_cast<std::size_t>(count));
    rest_.remove_prefix(taken.size());
    return taken;
  }

  /// Reads seven bits of each byte, the lowest first; the last byte has no eighth bit.
  std::uint64_t integer() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      const auto byte = static_cast<unsigned char>(take(1).front());
      value |= std::uint64_t{byte & 0x7FU} << shift;
      if (byte < 0x80) return value;
    }
    refuse("a number has too many digits");
  }

  std::string_view rest_;
};

constexpr std::uint64_t tokens_of_model = 1;         // ModelProto.tokens
constexpr std::uint64_t text_of_token = 1;           // ModelProto.SentencePiece.token
constexpr std::uint64_t score_of_token = 2;          // ModelProto.SentencePiece.score
constexpr std::uint64_t normalizer_of_model = 3;     // ModelProto.normalizer_spec
constexpr std::uint64_t charsmap_of_normalizer = 2;  // NormalizerSpec.precompiled_charsmap

std::string token_text(std::string_view message, std::size_t number) {
  std::string text;
  WireMessage token(message);
  while (const std::optional<WireField> field = token.next())
    if (field->number == text_of_token) text = field->bytes;
  const std::string name = "token " + std::to_string(number);
  if (text.empty()) refuse(name + " is empty");
  if (find_invalid_utf8(text)) refuse(name + " is not UTF-8");
  if (text.find_first_of("\r\n") != std::string::npos)
    throw Error(name + " of this model of SentencePiece holds a line end, and a vocabulary is kept in lines");
  return text;
}

}  // namespace

std::vector<std::string> sentencepiece_tokens(std::string_view model) {
  std::vector<std::string> tokens;
  WireMessage message(model);
  while (const std::optional<WireField> field = message.next())
    if (field->number == tokens_of_model) tokens.push_back(token_text(field->bytes, tokens.size()));
  if (tokens.empty()) refuse("it has no tokens");
  return tokens;
}

SentencepieceContents sentencepiece_contents(std::string_view model) {
  SentencepieceContents contents;
  for (std::string& token : sentencepiece_tokens(model)) contents.tokens.emplace_back(std::move(token), 0.0F);
  std::size_t number = 0;
  WireMessage message(model);
  while (const std::optional<WireField> part = message.next()) {
    WireMessage inner(part->bytes);
    if (part->number == tokens_of_model) {
      float& score = contents.tokens[number++].second;
      while (const std::optional<WireField> field = inner.next())
        if (field->number == score_of_token) score = std::bit_cast<float>(field->fixed);
    } else if (part->number == normalizer_of_model) {
      while (const std::optional<WireField> field = inner.next())
        if (field->number == charsmap_of_normalizer) contents.charsmap = field->bytes;
    }
  }
  return contents;
}

}  // namespace encore::data
