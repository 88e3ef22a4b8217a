// SPDX-License-Identifier: BSD-3-Clause
// Implements decoded_text.hpp: decodes the tokens of a generated output and cuts the text before the first
// stop string. text_writer.cpp calls it. Stops are searched in the text, not in bytes, so no stop begins
// within a character. Scores and stored predictions are made from this text, so another cut changes them.
// Read decoded_text.hpp first.
#include "infer/decoded_text.hpp"

#include <algorithm>
#include <utility>

#include "base/utf8.hpp"

namespace encore::infer {
namespace {

DecodedText up_to_stop(std::string text, const std::vector<std::string>& stops) {
  std::size_t first = std::string::npos;
  for (const std::string& stop : stops) first = std::min(first, text.find(stop));
  if (first != std::string::npos) text.resize(first);
  return {.text = std::move(text), .stopped = first != std::string::npos};
}

}  // namespace

DecodedText decoded_so_far(const Tokenizer& tokenizer, std::span<const std::int32_t> tokens,
                           const std::vector<std::string>& stops) {
  return up_to_stop(Utf8Decoder().add(tokenizer.decode(tokens)), stops);
}

DecodedText decoded_whole(const Tokenizer& tokenizer, std::span<const std::int32_t> tokens,
                          const std::vector<std::string>& stops) {
  return up_to_stop(valid_utf8(tokenizer.decode(tokens)), stops);
}

}  // namespace encore::infer
