// SPDX-License-Identifier: BSD-3-Clause
// Trains a SentencePiece model (Kudo 2018): maximizes the likelihood of the text by expectation and
// maximization, and drops the tokens that matter least. The library SentencePiece does it. Unigram::train
// calls it. Equal counts must give an equal model.
#pragma once

#include <cstdint>
#include <string>

#include <encore/options.hpp>
#include <encore/tokenizer.hpp>

namespace encore::unigram {

struct Training {
  std::int64_t vocab_size = 0;  ///< tokens, including special ones; 0: read from a file
  double character_coverage = 1.0;
  bool byte_fallback = false;
};

/// Throws OptionError unless exactly one of `vocab` and `vocab_size` is given, or if the size cannot hold the
/// bytes of `byte_fallback`.
Training training_of(const Options& options);

/// Returns the model file: <pad>, <unk>, <s>, </s>, <mask>, and the tokens of the text, of which there may be
/// fewer than vocab_size. Equal inputs give equal bytes. Throws Error if vocab_size cannot hold the
/// characters, if there is no text, or if the options name a file.
std::string train_model(const TextCounts& texts, const Training& training);

}  // namespace encore::unigram
