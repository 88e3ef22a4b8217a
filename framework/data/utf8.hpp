// UTF-8: validation of what is read from files, and walking over code points.
// Place in the flow: plugins/readers/conll.cpp and vocabulary.cpp refuse files that are not UTF-8 before
// anything else looks at them.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace encore {

/// The offset in bytes of the first byte that does not begin or continue a well-formed sequence (overlong
/// forms, surrogates and numbers above U+10FFFF are not well-formed), or nothing when all of the text is
/// UTF-8.
std::optional<std::size_t> find_invalid_utf8(std::string_view text);

/// The text without the mark U+FEFF that some editors put in front of a file.
std::string_view without_byte_order_mark(std::string_view text);

}  // namespace encore
