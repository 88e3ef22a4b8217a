// SPDX-License-Identifier: BSD-3-Clause
// Implements next_token.hpp, the choice of the next token from a row of logits on the host: the most probable
// ones, or one drawn at random. TextWriter calls it. Tokens are sorted by (logit, number), so that equal
// logits give equal tokens everywhere. A change of any sum or order changes the text of seeded generation.
#include "infer/next_token.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include <encore/error.hpp>
#include <encore/math.hpp>
#include <encore/random.hpp>

#include "model/network.hpp"

namespace encore::infer {
namespace {

double log_sum(std::span<const float> logits) {
  const double largest = *std::ranges::max_element(logits);
  double sum = 0.0;
  for (const float logit : logits) sum += math::exp(static_cast<double>(logit) - largest);
  return largest + math::log(sum);
}

/// Returns the numbers of the `count` most probable tokens, sorted.
std::vector<std::int32_t> ordered(std::span<const float> logits, std::size_t count) {
  std::vector<std::int32_t> tokens(logits.size());
  std::iota(tokens.begin(), tokens.end(), 0);
  const auto before = [&](std::int32_t a, std::int32_t b) {
    const float x = logits[static_cast<std::size_t>(a)], y = logits[static_cast<std::size_t>(b)];
    return x != y ? x > y : a < b;
  };
  const auto middle = tokens.begin() + static_cast<std::ptrdiff_t>(std::min(count, tokens.size()));
  std::partial_sort(tokens.begin(), middle, tokens.end(), before);
  tokens.erase(middle, tokens.end());
  return tokens;
}

}  // namespace

double draw_number(std::uint64_t seed, std::int64_t number, std::int64_t position) {
  static const std::uint64_t stream = model::random_stream("generation", "piece");
  const RandomWords words = Random(RandomKey{.seed = seed, .stream = stream})
                                .words(number, static_cast<std::uint32_t>(position), 0);
  const std::uint64_t bits = (std::uint64_t{words.word[0]} << 32 | words.word[1]) >> 11;
  return static_cast<double>(bits) * 0x1p-53;
}

void penalize_repetitions(std::span<const std::int32_t> text, double penalty, std::span<float> logits) {
  for (const std::int32_t token : std::set<std::int32_t>(text.begin(), text.end())) {
    float& logit = logits[static_cast<std::size_t>(token)];
    logit = static_cast<float>(logit > 0.0F ? logit / penalty : logit * penalty);
  }
}

std::vector<NextToken> most_probable(std::span<const float> logits, std::int64_t count,
                                     std::span<const std::int32_t> also) {
  const double log_of_all = log_sum(logits);
  std::vector<NextToken> best;
  const auto add = [&](std::int32_t token) {
    best.push_back({token, logits[static_cast<std::size_t>(token)] - log_of_all});
  };
  for (const std::int32_t token : ordered(logits, static_cast<std::size_t>(count))) add(token);
  for (const std::int32_t token : also)
    if (std::ranges::find(best, token, &NextToken::token) == best.end()) add(token);
  return best;
}

NextToken draw_token(std::span<const float> logits, const Decoding& decoding, double number) {
  ENCORE_REQUIRE(decoding.temperature > 0.0, "tokens are drawn with a temperature above 0");
  const std::size_t most = decoding.top_k > 0 ? static_cast<std::size_t>(decoding.top_k) : logits.size();
  const bool cut = most < logits.size() || decoding.top_p < 1.0;
  std::vector<std::int32_t> tokens;
  if (cut) {
    tokens = ordered(logits, most);
  } else {
    tokens.resize(logits.size());
    std::iota(tokens.begin(), tokens.end(), 0);
  }
  const double largest = *std::ranges::max_element(logits);
  std::vector<double> ends;  // the cumulative sums of the shares
  double sum = 0.0;
  for (const std::int32_t token : tokens) {
    sum += math::exp((static_cast<double>(logits[static_cast<std::size_t>(token)]) - largest) /
                     decoding.temperature);
    ends.push_back(sum);
  }
  if (decoding.top_p < 1.0) {
    const auto last = std::ranges::lower_bound(ends, decoding.top_p * sum);
    ends.erase(std::min(last + 1, ends.end()), ends.end());
  }
  // If numbers are not finite, the choice has no meaning, so any token may be returned.
  const auto found = std::ranges::upper_bound(ends, number * ends.back());
  const std::int32_t token =
      tokens[std::min(static_cast<std::size_t>(found - ends.begin()), ends.size() - 1)];
  return {token, logits[static_cast<std::size_t>(token)] - log_sum(logits)};
}

}  // namespace encore::infer
