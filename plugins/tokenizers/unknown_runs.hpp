// Long runs of characters that a model of SentencePiece has no token for. Its library makes one token of such
// a run and copies it again with each character, so that a text of a megabyte takes minutes. What stands in
// the middle of a long run changes nothing but where the token ends, and is left out here. Place in the flow:
// unigram.cpp, before the library.
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
    std::size_t place;    ///< in `text`, within an unknown token
    std::size_t missing;  ///< bytes that are left out up to here
  };

  std::string text;
  std::vector<Gap> gaps = {};

  /// The range in the whole text.
  ByteRange whole(ByteRange range) const;
};

/// `is_one_unknown` cuts a text by the model and says whether nothing but one unknown token comes of it. It
/// is asked about short texts only, some times for each character at most.
ShortText without_long_unknown_runs(std::string_view text,
                                    const std::function<bool(const std::string& text)>& is_one_unknown);

}  // namespace encore::unigram
