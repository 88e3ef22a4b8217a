// SPDX-License-Identifier: BSD-3-Clause
// require_same_sentencepiece(): compares two copies of the SentencePiece model of a T5. T5Tokenizer of
// `transformers` takes tokens, scores and normalization from tokenizer.json if it exists, but this program
// cuts by spiece.model, so the two must be one model. tokenizer_settings.cpp calls it when a run is planned.
#pragma once

#include <filesystem>

#include "pretrained/tokenizer_settings.hpp"

namespace encore::pretrained {

/// `model` is spiece.model, whose lines `files` has. Throws Error that names the difference.
void require_same_sentencepiece(const TokenizerJson& files, const std::filesystem::path& model);

}  // namespace encore::pretrained
