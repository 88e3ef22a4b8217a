// SPDX-License-Identifier: BSD-3-Clause
// number_words() finds which tokens of a text form one word, for masking whole words. It uses the byte ranges
// that a tokenizer returns with its tokens, so it works with every tokenizer. Mlm::encode stores the result
// in the column "words", which masking.hpp reads.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include <encore/tokenizer.hpp>

namespace encore::mlm {

/// Returns a number for each token, ascending from 0, equal for adjacent tokens of one word. Words are those
/// of BERT's tokenizer: letters, marks and digits without anything between; punctuation marks, symbols and
/// ideographs are words of their own. `ranges`: the bytes of each token in `text`.
std::vector<std::int32_t> number_words(std::string_view text, std::span<const ByteRange> ranges);

}  // namespace encore::mlm
