// SPDX-License-Identifier: BSD-3-Clause
// Trains a WordPiece vocabulary: characters, then merges of the most frequent neighbouring tokens, as in
// byte-pair encoding. Hugging Face's trainer does the same; the original training of WordPiece was never
// published. WordPiece::train calls it. Equal counts must give an equal vocabulary.
#pragma once

#include <string>
#include <vector>

#include "vocabulary.hpp"

namespace encore::wordpiece {

/// Returns the special tokens with which every vocabulary that is trained here begins.
const std::vector<std::string>& special_tokens();

/// Returns the special tokens, each character alone and as a continuation ("##e"), then merges by falling
/// count, equal counts in the order of the tokens' numbers. There are fewer than vocab_size if no pair is
/// frequent enough. `words` are words of BertText with their counts. Throws Error if vocab_size cannot hold
/// the characters.
std::vector<std::string> train_vocabulary(const TextCounts& words, const tokenizers::Training& training);

}  // namespace encore::wordpiece
