// SPDX-License-Identifier: BSD-3-Clause
// Masking for the task "mlm": picks rows and replaces their tokens. Each random number is drawn by the number
// of a row or word, never in the order of a loop, so results do not depend on threads. A change of a draw
// changes the results of all runs of the task. Read masking.hpp first.
#include "masking.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace encore::mlm {
namespace {

constexpr double masked_share = 0.8;  // of picked rows; half of the others get a random token

std::uint64_t mix(std::uint64_t x) {
  x += 0x9E3779B97F4A7C15U;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9U;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBU;
  return x ^ (x >> 31);
}

/// A word: adjacent rows that are masked together.
struct Word {
  std::uint64_t place = 0;  ///< random; words are taken in this order
  std::int32_t first = 0;
  std::int32_t count = 0;
};

std::vector<Word> words_in_drawn_order(std::span<const std::int32_t> words, const Draw& draw) {
  std::vector<Word> all;
  for (std::size_t row = 0; row < words.size(); ++row) {
    if (words[row] == no_word) continue;
    if (row > 0 && words[row - 1] == words[row])
      ++all.back().count;
    else
      all.push_back(
          {.place = draw.word(Draw::order, row), .first = static_cast<std::int32_t>(row), .count = 1});
  }
  std::ranges::sort(all, {}, [](const Word& word) { return std::pair(word.place, word.first); });
  return all;
}

/// Returns a random token that is not special.
std::int32_t random_token(const Tokens& tokens, const Draw& draw, std::uint64_t row) {
  const std::int64_t ordinary = tokens.count - static_cast<std::int64_t>(tokens.specials.size());
  if (ordinary <= 0) return tokens.mask;
  auto token = static_cast<std::int32_t>(draw.integer(Draw::token, row, ordinary));
  for (const std::int32_t special : tokens.specials) token += special <= token ? 1 : 0;
  return token;
}

}  // namespace

Draw::Draw(std::uint64_t seed, std::int64_t epoch, std::uint64_t example, std::size_t sequence)
    : key_(mix(mix(mix(mix(seed) + static_cast<std::uint64_t>(epoch)) + example) + sequence)) {}

std::uint64_t Draw::word(Stream stream, std::uint64_t number) const {
  return mix(mix(key_ + stream) + number);
}

double Draw::uniform(Stream stream, std::uint64_t number) const {
  return static_cast<double>(word(stream, number) >> 11) * 0x1p-53;
}

std::int64_t Draw::integer(Stream stream, std::uint64_t number, std::int64_t below) const {
  // A product of 32 bits and a number of tokens fits; the bias is below 2^-32 * below.
  return static_cast<std::int64_t>(((word(stream, number) >> 32) * static_cast<std::uint64_t>(below)) >> 32);
}

std::vector<std::int32_t> single_tokens(std::span<const std::int32_t> ids, const Tokens& tokens) {
  std::vector<std::int32_t> words(ids.size(), no_word);
  for (std::size_t row = 0; row < ids.size(); ++row)
    if (!std::ranges::binary_search(tokens.specials, ids[row])) words[row] = static_cast<std::int32_t>(row);
  return words;
}

std::size_t count_picks(std::span<const std::int32_t> words, double probability) {
  const auto rows =
      static_cast<std::size_t>(words.size()) - static_cast<std::size_t>(std::ranges::count(words, no_word));
  if (rows == 0) return 0;
  const auto wanted = static_cast<std::size_t>(std::llround(probability * static_cast<double>(rows)));
  return std::clamp<std::size_t>(wanted, 1, rows);
}

void pick_rows(std::span<const std::int32_t> words, const Draw& draw, std::span<std::int32_t> picked) {
  std::size_t taken = 0;
  const auto take = [&](const Word& word, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) picked[taken++] = word.first + static_cast<std::int32_t>(i);
  };
  const Word* passed_over = nullptr;  // the first word that did not fit
  const std::vector<Word> order = words_in_drawn_order(words, draw);
  for (const Word& word : order) {
    const auto count = static_cast<std::size_t>(word.count);
    if (count <= picked.size() - taken)
      take(word, count);
    else if (passed_over == nullptr)
      passed_over = &word;
  }
  if (passed_over != nullptr) take(*passed_over, picked.size() - taken);
  std::ranges::sort(picked);
}

void mask_rows(std::span<const std::int32_t> picked, const Tokens& tokens, const Draw& draw,
               std::span<std::int32_t> ids, std::span<std::int32_t> targets) {
  for (std::size_t i = 0; i < picked.size(); ++i) {
    const auto row = static_cast<std::size_t>(picked[i]);
    targets[i] = ids[row];
    const double share = draw.uniform(Draw::replacement, row);
    if (share < masked_share)
      ids[row] = tokens.mask;
    else if (share < 0.5 * (1.0 + masked_share))
      ids[row] = random_token(tokens, draw, row);
  }
}

void restore_rows(std::span<const std::int32_t> picked, std::span<const std::int32_t> targets,
                  std::span<std::int32_t> ids) {
  for (std::size_t i = 0; i < picked.size(); ++i) ids[static_cast<std::size_t>(picked[i])] = targets[i];
}

}  // namespace encore::mlm
