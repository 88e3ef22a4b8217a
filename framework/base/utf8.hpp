// SPDX-License-Identifier: BSD-3-Clause
// UTF-8: validation of what is read from files, and the decoder that makes text of any bytes. Place in the
// flow: plugins/readers/conll.cpp and data/vocabulary.cpp refuse files that are not UTF-8 before anything
// else looks at them; infer/decoded_text.hpp decodes what a model writes. Which bytes become U+FFFD is
// Unicode's rule and must not change.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace encore {

/// Returns the offset of the first byte that does not begin or continue a well-formed sequence (overlong
/// forms, surrogates and numbers above U+10FFFF are not well-formed), or nothing if the whole text is UTF-8.
std::optional<std::size_t> find_invalid_utf8(std::string_view text);

/// Makes UTF-8 of any bytes, which arrive in several calls. Each maximal subpart of an ill-formed sequence
/// becomes U+FFFD (Unicode 3.9, "U+FFFD Substitution of Maximal Subparts"; WHATWG's decoder and nlohmann's
/// `replace` do the same). A sequence that is cut off waits for its other bytes until `finish`. The joined
/// output does not depend on how the bytes are divided into calls of `add`.
class Utf8Decoder {
 public:
  /// Adds bytes and returns the text that is complete with them.
  std::string add(std::string_view bytes);
  /// Ends the bytes: returns U+FFFD if a sequence is cut off, else an empty string. The next `add` begins
  /// another text.
  std::string finish();

 private:
  std::string cut_off_;  ///< at most three bytes, which begin a character
};

/// Returns all of the bytes as text, decoded as by Utf8Decoder.
std::string valid_utf8(std::string_view bytes);

/// Returns the text without the mark U+FEFF that some editors write at the start of a file.
std::string_view without_byte_order_mark(std::string_view text);

}  // namespace encore
