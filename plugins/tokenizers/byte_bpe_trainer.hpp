// Training a vocabulary of byte-level byte-pair encoding (Sennrich et al. 2016, Radford et al. 2019).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "vocabulary.hpp"

namespace encore::byte_bpe {

/// The special tokens and the bytes: no vocabulary has fewer.
inline constexpr std::int64_t smallest_vocabulary = 4 + 256;

/// The special tokens, the bytes in the order of their characters, then merges: of all neighbours the most
/// frequent, of equally frequent ones those with the lowest numbers (left, then right), until there are
/// vocab_size tokens or no two stand together min_frequency times. After each merge the words are cut as
/// merge_neighbours cuts them, so the training text is always cut as `encode` would cut it. `words` are words
/// as first_word finds them, with their counts. The tokens are printable.
std::vector<std::string> train_vocabulary(const TextCounts& words, const tokenizers::Training& training);

}  // namespace encore::byte_bpe
