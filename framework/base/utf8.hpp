// SPDX-License-Identifier: BSD-3-Clause
// UTF-8: validation of what is read from files, and the decoder that makes text of any bytes.
// Place in the flow: plugins/readers/conll.cpp and data/vocabulary.cpp refuse files that are not UTF-8 before
// anything else looks at them; infer/decoded_text.hpp decodes what a model writes.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace encore {

/// The offset in bytes of the first byte that does not begin or continue a well-formed sequence (overlong
/// forms, surrogates and numbers above U+10FFFF are not well-formed), or nothing when all of the text is
/// UTF-8.
std::optional<std::size_t> find_invalid_utf8(std::string_view text);

/// Makes UTF-8 of any bytes, as they come. The one rule for bytes that are not UTF-8: each maximal subpart of
/// an ill-formed sequence becomes U+FFFD (Unicode 3.9, "U+FFFD Substitution of Maximal Subparts"; WHATWG's
/// decoder and nlohmann's `replace` do the same). A sequence that is cut off waits for its other bytes until
/// `finish`. However the bytes are cut into calls of `add`, what comes out, put together, is the same.
class Utf8Decoder {
 public:
  /// The text that is certain with these bytes.
  std::string add(std::string_view bytes);
  /// At the end of the bytes: U+FFFD where a sequence is cut off, else nothing. The next `add` begins a text.
  std::string finish();

 private:
  std::string cut_off_;  ///< at most three bytes, which begin a character
};

/// All of the bytes as text, by that rule.
std::string valid_utf8(std::string_view bytes);

/// The text without the mark U+FEFF that some editors put in front of a file.
std::string_view without_byte_order_mark(std::string_view text);

}  // namespace encore
