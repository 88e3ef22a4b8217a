// The pieces of a SentencePiece model without its library, which the control program does not know: of the
// file, a protocol buffer (sentencepiece_model.proto, message ModelProto), it needs nothing else. Place in
// the flow: vocabulary.cpp. What a model does with texts is the business of the tokenizer "unigram".
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace encore {

/// In the order of their numbers. Throws Error where `model` is no such file.
std::vector<std::string> sentencepiece_pieces(std::string_view model);

/// What decides how a model cuts texts.
struct SentencepieceContents {
  std::vector<std::pair<std::string, float>> pieces;  ///< with their scores
  std::string charsmap;                               ///< normalizer_spec.precompiled_charsmap
};
/// Throws Error as sentencepiece_pieces does.
SentencepieceContents sentencepiece_contents(std::string_view model);

}  // namespace encore
