// SPDX-License-Identifier: BSD-3-Clause
// Reads the tokens of a SentencePiece model without its library, which the control program does not link. It
// needs nothing else of the file, a protocol buffer (sentencepiece_model.proto, message ModelProto).
// vocabulary.cpp calls it. The tokenizer "unigram" implements what a model does with a text. The order of
// tokens numbers them, so it must not change.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace encore::data {

/// Returns the tokens in the order of their numbers. Throws Error if `model` is not such a file.
std::vector<std::string> sentencepiece_tokens(std::string_view model);

/// Everything that decides how a model cuts a text.
struct SentencepieceContents {
  std::vector<std::pair<std::string, float>> tokens;  ///< with their scores
  std::string charsmap;                               ///< normalizer_spec.precompiled_charsmap
};
/// Returns these contents of a model. Throws Error like sentencepiece_tokens().
SentencepieceContents sentencepiece_contents(std::string_view model);

}  // namespace encore::data
