// Trains a SentencePiece model: expectation and maximisation raise the likelihood of the text under
// independently drawn tokens, while the least useful tokens are dropped (Kudo 2018). The library does it.
// Place in the flow: Unigram::train.
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

/// Returns the file of the model: <pad>, <unk>, <s>, </s>, <mask>, and the tokens of the text, which may be
/// fewer than vocab_size. Equal inputs give equal bytes. Throws Error if vocab_size cannot hold the
/// characters, if there is no text, or if the options name a file.
std::string train_model(const TextCounts& texts, const Training& training);

}  // namespace encore::unigram
