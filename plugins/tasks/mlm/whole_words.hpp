// Which tokens of a text belong to one word, for masking whole words; from the ranges of bytes that a
// tokenizer gives with its tokens, so that it serves every tokenizer. Place in the flow: Mlm::encode ->
// number_words -> the column "words" -> masking.hpp.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include <encore/tokenizer.hpp>

namespace encore::mlm {

/// A number for each token, ascending from 0, equal for neighbours of one word. Words are what BERT's
/// tokenizer cuts into tokens: letters, marks and digits without anything between; punctuation, symbols and
/// ideographs are words of their own. `ranges`: of the tokens, in `text`.
std::vector<std::int32_t> number_words(std::string_view text, std::span<const ByteRange> ranges);

}  // namespace encore::mlm
