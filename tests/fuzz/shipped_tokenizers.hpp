// The tokenizers that ship, made from the sources of their plugins, and what must hold of any text that one
// of them encodes.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <encore/plugin.hpp>
#include <encore/tokenizer.hpp>

namespace encore::fuzz {

/// What each plugin offers: "wordpiece", "byte_bpe", "character", "word", and "unigram" where this build has
/// SentencePiece.
const std::vector<Offer>& tokenizer_offers();

/// Makes the tokenizer; an option of its schema that is not in `options` has its default. Throws Error where
/// no plugin offers `name`.
std::unique_ptr<Tokenizer> make_tokenizer(const std::string& name, const Options& options);

/// Encodes the text in both ways and decodes it. Throws std::logic_error where the two ways give other
/// tokens, a number is outside of the vocabulary, or the ranges leave the text or go back.
void require_sound(const Tokenizer& tokenizer, std::string_view text);

/// Texts that are hard to cut: parts of characters, combining marks, every kind of white space, markers.
const std::vector<std::string>& hostile_texts();

}  // namespace encore::fuzz
