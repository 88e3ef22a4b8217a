// SPDX-License-Identifier: BSD-3-Clause
// Shortens long runs of characters for which a SentencePiece model has no token. The library makes one token
// of such a run and copies it for each character, so a text of a megabyte takes minutes. The middle of a long
// run affects only where the token ends, and is left out here. unigram.cpp calls this before the library.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <encore/tokenizer.hpp>

namespace encore::unigram {

struct ShortText {
  struct Gap {
    std::size_t place;    ///< position in `text`, inside an unknown token
    std::size_t missing;  ///< number of bytes left out so far
  };

  std::string text;
  std::vector<Gap> gaps = {};

  /// Returns the corresponding range in the whole text.
  ByteRange whole(ByteRange range) const;
};

/// Returns the text without the middle of long unknown runs. `is_one_unknown` returns whether the model makes
/// exactly one unknown token of a text; it is called only for short parts, at most a few times per character.
ShortText without_long_unknown_runs(std::string_view text,
                                    const std::function<bool(const std::string& text)>& is_one_unknown);

}  // namespace encore::unigram
