// SPDX-License-Identifier: BSD-3-Clause
// The shipped tokenizers, made from the sources of their plugins (plugins/tokenizers), and require_sound(),
// the conditions that hold for any input that they encode. tokenizer_target.cpp and pretrained_target.cpp
// call it. A new tokenizer is added to tokenizer_offers() and to CMakeLists.txt.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <encore/plugin.hpp>
#include <encore/tokenizer.hpp>

namespace encore::fuzz {

/// Returns what each plugin offers: "wordpiece", "byte_bpe", "character", "word", and "unigram" if this
/// build has SentencePiece.
const std::vector<Offer>& tokenizer_offers();

/// Makes the tokenizer; an option of its schema that is not in `options` has its default. Throws Error if no
/// plugin offers `name`.
std::unique_ptr<Tokenizer> make_tokenizer(const std::string& name, const Options& options);

/// Encodes the text without and with ranges (the bytes of each token), and decodes it. Throws
/// std::logic_error if the two calls give different tokens, a number is outside of the vocabulary, or the
/// ranges leave the text or go back.
void require_sound(const Tokenizer& tokenizer, std::string_view text);

/// Inputs that are hard to tokenize: parts of characters, combining marks, every kind of white space,
/// markers.
const std::vector<std::string>& hostile_texts();

}  // namespace encore::fuzz
