// What the tokens of a text say, as it is streamed, shown, measured and stored: UTF-8, up to the first stop.
// Place in the flow: Tokenizer::decode -> here -> text_writer.cpp (stops, Generator::Seen,
// GeneratedText::text). Read next: base/utf8.hpp (the rule for bytes that are not UTF-8), text_streamer.hpp
// (what of it is streamed).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <encore/tokenizer.hpp>

namespace encore {

struct DecodedText {
  std::string text;
  bool stopped = false;  ///< it was cut before one of the stops
};

/// Of a text that grows: a character whose bytes are not all there is left out.
DecodedText decoded_so_far(const Tokenizer& tokenizer, std::span<const std::int32_t> tokens,
                           const std::vector<std::string>& stops);
/// Of a text that is complete: what is left of such a character is U+FFFD.
DecodedText decoded_whole(const Tokenizer& tokenizer, std::span<const std::int32_t> tokens,
                          const std::vector<std::string>& stops);

}  // namespace encore
