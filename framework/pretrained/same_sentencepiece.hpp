// The model of SentencePiece that tokenizer.json of a T5 has beside spiece.model: T5Tokenizer of
// `transformers` takes pieces, scores and normalization from tokenizer.json where there is one, and this
// program cuts by spiece.model, so the two must be one model. Place in the flow: tokenizer_settings.cpp.
#pragma once

#include <filesystem>

#include "pretrained/tokenizer_settings.hpp"

namespace encore {

/// `model`: spiece.model, whose lines `files` has. Throws Error naming what differs.
void require_same_sentencepiece(const TokenizerJson& files, const std::filesystem::path& model);

}  // namespace encore
