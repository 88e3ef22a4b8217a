// Which token comes next, by the logits of a row: candidates for a search, or one that is drawn. Pure
// functions on the host, in double, with one order of every sum. Place in the flow: Generator.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <encore/decoding.hpp>

#include "infer/beam_search.hpp"

namespace encore {

/// The number in [0, 1) by which token `position` of text `number` of a prompt is drawn.
double draw_number(std::uint64_t seed, std::int64_t number, std::int64_t position);

/// Decoding::repetition_penalty on the logits (V) of the tokens that stand in `text`.
void penalize_repetitions(std::span<const std::int32_t> text, double penalty, std::span<float> logits);

/// The `count` most probable tokens of softmax(logits), the best first, of equal ones the smaller number
/// first.
std::vector<NextToken> most_probable(std::span<const float> logits, std::int64_t count);

/// A token drawn by `number` from softmax(logits / temperature) as Decoding::top_k and top_p cut it; its
/// probability is that of softmax(logits).
NextToken draw_token(std::span<const float> logits, const Decoding& decoding, double number);

}  // namespace encore
