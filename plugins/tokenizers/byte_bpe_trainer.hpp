// SPDX-License-Identifier: BSD-3-Clause
// Trains a vocabulary of byte-level byte-pair encoding (Sennrich et al. 2016, Radford et al. 2019).
// ByteBpe::train (byte_bpe.cpp) calls it. The same text and size must always give the same vocabulary.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "vocabulary.hpp"

namespace encore::byte_bpe {

/// The special tokens and the bytes: every vocabulary has at least these.
inline constexpr std::int64_t smallest_vocabulary = 4 + 256;

/// Returns the special tokens, the bytes in the order of their characters, then merges, all printable. Each
/// merge takes the most frequent neighbours, of equally frequent ones those with the lowest numbers (left,
/// then right), until there are vocab_size tokens or no pair occurs min_frequency times. After each merge the
/// words are cut again with merge_neighbours, so the training text is cut as `encode` would cut it. `words`
/// are words of first_word with their counts.
std::vector<std::string> train_vocabulary(const TextCounts& words, const tokenizers::Training& training);

}  // namespace encore::byte_bpe
