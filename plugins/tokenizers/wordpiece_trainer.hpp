// Training a WordPiece vocabulary: characters, then merges of the most frequent neighbouring tokens, as in
// byte-pair encoding (the way of Hugging Face's trainer; the published WordPiece training was never
// released).
#pragma once

#include <string>
#include <vector>

#include "vocabulary.hpp"

namespace encore::wordpiece {

/// The special tokens that open every vocabulary trained here.
const std::vector<std::string>& special_tokens();

/// `words` are split words (BertText) and their counts. The result holds the special tokens, each character
/// alone and as a continuation ("##e"), then merges by falling count, equal counts in the order of the
/// tokens' numbers; it is shorter than vocab_size when no pair is frequent enough. Throws Error when
/// vocab_size cannot hold the characters.
std::vector<std::string> train_vocabulary(const TextCounts& words, const tokenizers::Training& training);

}  // namespace encore::wordpiece
