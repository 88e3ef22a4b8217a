// SPDX-License-Identifier: BSD-3-Clause
// Functions that choose the next token from a row of logits: the candidates of a search, or one token drawn
// at random. TextWriter calls them. They are pure functions on the host and compute in double. Every sum has
// one order, which must stay: another order changes the text of seeded generation. Read next:
// best_tokens.hpp, which finds candidates on the device.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <encore/decoding.hpp>

#include "infer/beam_search.hpp"

namespace encore::infer {

/// Returns the number in [0, 1) by which token `position` of output `number` of a prompt is drawn.
double draw_number(std::uint64_t seed, std::int64_t number, std::int64_t position);

/// Applies Decoding::repetition_penalty to the logits (V) of the tokens that stand in `text`.
void penalize_repetitions(std::span<const std::int32_t> text, double penalty, std::span<float> logits);

/// Returns the `count` most probable tokens of softmax(logits), the best first, of equal ones the smaller
/// number first. The tokens of `also` that are not among them follow in their order.
std::vector<NextToken> most_probable(std::span<const float> logits, std::int64_t count,
                                     std::span<const std::int32_t> also = {});

/// Returns the token that `number` draws from softmax(logits / temperature) after Decoding::top_k and top_p;
/// its log_probability is that of softmax(logits).
NextToken draw_token(std::span<const float> logits, const Decoding& decoding, double number);

}  // namespace encore::infer
