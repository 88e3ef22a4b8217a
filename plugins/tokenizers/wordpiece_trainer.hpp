// Trains a WordPiece vocabulary: characters, then merges of the most frequent neighbouring pieces, as in
// byte-pair encoding (as Hugging Face's trainer does; the published WordPiece training was never
// released).
#pragma once

#include <string>
#include <vector>

#include "vocabulary.hpp"

namespace encore::wordpiece {

/// The special pieces that open every vocabulary trained here.
const std::vector<std::string>& special_pieces();

/// `words` are split words (BertText) and their counts. The result holds the special pieces, each character
/// alone and as a continuation ("##e"), then merges by falling count, equal counts in the order of the
/// pieces' numbers; it is shorter than vocab_size when no pair is frequent enough. Throws Error when
/// vocab_size cannot hold the characters.
std::vector<std::string> train_vocabulary(const TextCounts& words, const tokenizers::Training& training);

}  // namespace encore::wordpiece
