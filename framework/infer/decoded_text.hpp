// SPDX-License-Identifier: BSD-3-Clause
// Decodes the tokens of a generated output to the text that is streamed, shown, measured and stored: UTF-8,
// up to the first stop string. TextStreamer returns the part of it that can be streamed. text_writer.cpp
// calls the functions for stop strings, Generator::Seen and GeneratedText::text; the worker's generate and
// serve use TextStreamer. What TextStreamer has returned must never change afterwards, because users have
// read it. Read next: base/utf8.hpp, the rule for bytes that are not UTF-8.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <encore/tokenizer.hpp>

namespace encore::infer {

struct DecodedText {
  std::string text;
  bool stopped = false;  ///< the text was cut before one of the stops
};

/// Decodes the tokens of an unfinished output: a character with missing bytes is left out.
DecodedText decoded_so_far(const Tokenizer& tokenizer, std::span<const std::int32_t> tokens,
                           const std::vector<std::string>& stops);
/// Decodes the tokens of a finished output: the bytes of an incomplete character become U+FFFD.
DecodedText decoded_whole(const Tokenizer& tokenizer, std::span<const std::int32_t> tokens,
                          const std::vector<std::string>& stops);

/// Returns the part of a generated text that can be shown already: it holds back a possible beginning of a
/// stop string. decoded_so_far() has left out characters with missing bytes.
class TextStreamer {
 public:
  /// `stops`: Decoding::stop. No stop is empty, and `stops` must outlive this object.
  explicit TextStreamer(const std::vector<std::string>& stops) : stops_(stops) {}

  /// Returns the part of `said`, the text so far, that is new and can no longer change. Valid as long as
  /// `said`.
  std::string_view next_of(std::string_view said) {
    return take(said.substr(0, said.size() - uncertain(said)));
  }
  /// Returns the rest of the complete text, which can no longer change.
  std::string_view rest_of(std::string_view said) { return take(said); }

 private:
  std::string_view take(std::string_view certain) {
    if (certain.size() <= taken_) return {};
    const std::string_view more = certain.substr(taken_);
    taken_ = certain.size();
    return more;
  }
  /// Returns the number of bytes at the end that may be the beginning of a stop string.
  std::size_t uncertain(std::string_view said) const {
    std::size_t last = 0;
    for (const std::string& stop : stops_)
      for (std::size_t size = std::min(stop.size() - 1, said.size()); size > last; --size)
        if (said.ends_with(std::string_view(stop).substr(0, size))) last = size;
    return last;
  }

  const std::vector<std::string>& stops_;
  std::size_t taken_ = 0;
};

}  // namespace encore::infer
