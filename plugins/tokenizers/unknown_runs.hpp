// SPDX-License-Identifier: BSD-3-Clause
// Shortens long runs of characters for which a SentencePiece model has no token. The library makes one token
// of such a run and copies it for each character, so a text of a megabyte takes minutes. The middle of a long
// run affects only where the token ends, and is left out here. unigram.cpp calls this before the library. The
// tokens must be those of the whole text.
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

/// `is_one_unknown` cuts a text by the model and returns whether the result is one unknown token. It is
/// called for short inputs only, a few times for each character at most.
ShortText without_long_unknown_runs(std::string_view text,
                                    const std::function<bool(const std::string& text)>& is_one_unknown);

}  // namespace encore::unigram
