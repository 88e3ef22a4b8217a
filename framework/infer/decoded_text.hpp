// SPDX-License-Identifier: BSD-3-Clause
// Decodes the tokens of a generated output to the text that is streamed, shown, measured and stored: UTF-8,
// up to the first stop string. Place in the flow: Tokenizer::decode -> here -> text_writer.cpp (stops,
// Generator::Seen, GeneratedText::text). Read next: base/utf8.hpp (the rule for bytes that are not UTF-8),
// text_streamer.hpp (the part that is streamed).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <encore/tokenizer.hpp>

namespace encore::infer {

struct DecodedText {
  std::string text;
  bool stopped = false;  ///< the text was cut before one of the stops
};

/// Decodes a text that grows: a character with missing bytes is left out.
DecodedText decoded_so_far(const Tokenizer& tokenizer, std::span<const std::int32_t> tokens,
                           const std::vector<std::string>& stops);
/// Decodes a text that is complete: the rest of such a character becomes U+FFFD.
DecodedText decoded_whole(const Tokenizer& tokenizer, std::span<const std::int32_t> tokens,
                          const std::vector<std::string>& stops);

}  // namespace encore::infer
