// SPDX-License-Identifier: BSD-3-Clause
// Decoding: the options of generation, and GeneratedText, its result. The code runs on the host. A task
// (Task::decoding) or a user (`exp generate`) sets the options, infer/generator.hpp generates token by token,
// and a task finds the results in Outputs. The default of a new option must keep the output that generation
// has without this option.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace encore {

/// The defaults write the most probable token each time ("greedy"). `beam` above 1 keeps the outputs with the
/// largest sum of log-probabilities; `temperature` above 0 draws tokens. The two exclude each other.
struct Decoding {
  /// Number of outputs that are kept at each step. With 1 and temperature 0, generation takes the best token
  /// at each step.
  std::int64_t beam = 1;
  /// A finished output of n tokens, the end counted, has the score log p / n^length_penalty.
  double length_penalty = 1.0;
  /// Tokens are drawn from softmax(logits / temperature); 0: none is drawn.
  double temperature = 0.0;
  /// Only the k most probable tokens may be drawn; 0: all.
  std::int64_t top_k = 0;
  /// Only the smallest set of most probable tokens whose probabilities add up to this value may be drawn
  /// (Holtzman et al. 2020).
  double top_p = 1.0;
  /// The logit of a token that the output already has is divided by this value if it is positive, and
  /// otherwise multiplied by it (Keskar et al. 2019); 1 changes nothing.
  double repetition_penalty = 1.0;
  /// Seed of the draws, which are a pure function of (seed, number of the output among those of one prompt,
  /// position).
  std::uint64_t seed = 0;
  /// Outputs per prompt: the best of the beam, or this number of draws.
  std::int64_t texts = 1;
  /// The largest number of tokens after the prompt; 0: as many as data.max_length leaves.
  std::int64_t max_tokens = 0;
  /// In a model with an encoder: tokens that an output may have more than its source; -1: no limit.
  std::int64_t beyond_source = -1;
  /// In a model with an encoder: the number of target tokens that the decoder is given before it generates,
  /// such as 1 for the token before every target. Those after the first count in n of the score.
  std::int64_t given = 1;
  /// An output ends before the first of these strings that occurs in it.
  std::vector<std::string> stop = {};

  friend bool operator==(const Decoding&, const Decoding&) = default;
};

/// The tokens that were generated after a prompt, without the prompt and without the token that ends an
/// output.
struct GeneratedText {
  std::vector<std::int32_t> tokens;
  /// The text of the tokens (Tokenizer::decode), up to a string of Decoding::stop. UTF-8; invalid bytes are
  /// replaced by U+FFFD.
  std::string text;
  /// log p / n^length_penalty; p is as the repetition penalty left it, before temperature, top_k and top_p.
  double score = 0.0;
  bool ended = false;  ///< false: cut at the longest length allowed
};

}  // namespace encore
