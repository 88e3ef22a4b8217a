// Training a model of SentencePiece: the likelihood of the text under tokens that are drawn one by one,
// raised by expectation and maximisation, while the tokens that it can best do without are dropped (Kudo
// 2018). The library does it. Place in the flow: Unigram::train.
#pragma once

#include <cstdint>
#include <string>

#include <encore/options.hpp>
#include <encore/tokenizer.hpp>

namespace encore::unigram {

struct Training {
  std::int64_t vocab_size = 0;  ///< tokens, special ones included; 0: the model is read from a file
  double character_coverage = 1.0;
  bool byte_fallback = false;
};

/// Throws OptionError unless exactly one of `vocab` and `vocab_size` is given, and for a size that cannot
/// hold the bytes of `byte_fallback`.
Training training_of(const Options& options);

/// The file of the model: <pad>, <unk>, <s>, </s>, <mask>, and what the text brings, which is less than
/// vocab_size where it has no more. Equal texts give equal bytes. Throws Error where vocab_size cannot hold
/// the characters, where there is no text, and where the model is to be read.
std::string train_model(const TextCounts& texts, const Training& training);

}  // namespace encore::unigram
