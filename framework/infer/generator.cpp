// SPDX-License-Identifier: BSD-3-Clause
// Implements Generator: groups prompts of about equal length and lets a TextWriter generate each group.
// Evaluator calls it for tasks that measure generated text, the worker's generate for users. Groups must
// decide only speed and memory, never the text. A blank source gets an empty text without the model. Read
// generator.hpp first, text_writer.hpp next.
#include "infer/generator.hpp"

#include <algorithm>
#include <functional>
#include <iterator>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include <encore/error.hpp>

#include "infer/text_writer.hpp"
#include "record/generate_request.hpp"

namespace encore::infer {
namespace {

/// The largest number of outputs that a group of several prompts may have, and of the rows of their cache: a
/// few gigabytes in a large model. A prompt that exceeds them alone is generated alone.
constexpr std::int64_t texts_at_once = 128, cache_rows_at_once = 32768;

/// Returns the sequences ordered by the number of tokens of their sources or prompts, the shortest first.
std::vector<std::size_t> by_length(const ExampleSet& set) {
  std::vector<std::size_t> order(set.sequence_count());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, {}, [&](std::size_t sequence) { return set.ids(sequence).size(); });
  return order;
}

/// Returns whether the text is white space of Unicode only.
bool is_blank(std::string_view text) {
  constexpr std::string_view spaces[] = {" ",      "\t",     "\n",     "\v",     "\f",     "\r",     "\u0085",
                                         "\u00A0", "\u1680", "\u2000", "\u2001", "\u2002", "\u2003", "\u2004",
                                         "\u2005", "\u2006", "\u2007", "\u2008", "\u2009", "\u200A", "\u2028",
                                         "\u2029", "\u202F", "\u205F", "\u3000"};
  while (!text.empty()) {
    const auto* space =
        std::ranges::find_if(spaces, [&](std::string_view one) { return text.starts_with(one); });
    if (space == std::end(spaces)) return false;
    text.remove_prefix(space->size());
  }
  return true;
}

}  // namespace

/// Returns whether the source has only white space between its markers; unknown and special tokens count as
/// text.
bool Generator::has_blank_source(const ExampleSet& set, std::size_t sequence) const {
  if (!model_.needs().target) return false;
  std::span<const std::int32_t> tokens = set.ids(sequence);
  if (!tokens.empty() && tokenizer_.find(Special::end) == tokens.back())
    tokens = tokens.first(tokens.size() - 1);
  if (!tokens.empty() && tokenizer_.find(Special::start) == tokens.front()) tokens = tokens.subspan(1);
  return is_blank(tokenizer_.decode(tokens)) && std::ranges::none_of(tokens, [&](std::int32_t token) {
           return tokenizer_.decode({&token, 1}).empty();
         });
}

std::vector<std::vector<GeneratedText>> Generator::run(const ExampleSet& set, const Decoding& decoding,
                                                       const Seen& seen, const Written& written,
                                                       Required required) {
  if (const std::string wrong = record::contradiction_in(decoding); !wrong.empty()) throw Error(wrong);
  ENCORE_REQUIRE(required.empty() || required.size() == set.sequence_count(),
                 "there is one list of required strings for each sequence");
  const auto requires_texts = [&](std::size_t sequence) {
    return !required.empty() && !required[sequence].empty();
  };
  std::vector<std::vector<GeneratedText>> all(set.sequence_count());
  std::vector<std::size_t> order = by_length(set);
  const std::size_t blank = std::erase_if(order, [&](std::size_t sequence) {
    if (!has_blank_source(set, sequence)) return false;
    all[sequence].assign(static_cast<std::size_t>(decoding.texts), {.tokens = {}, .text = {}, .ended = true});
    return true;
  });
  // Outputs with required strings are in groups of their own, which other sequences cannot change.
  const auto first_required = std::ranges::stable_partition(order, std::not_fn(requires_texts)).begin();
  if (first_required != order.end() && decoding.temperature > 0.0)
    throw Error("strings can be required of a search, not of draws: set the temperature to 0");
  const std::int64_t times = parallel_texts(decoding);
  for (std::size_t first = 0, count = 0; first < order.size(); first += count) {
    std::int64_t longest = 0;
    for (count = 0; first + count < order.size(); ++count) {
      if (requires_texts(order[first]) != requires_texts(order[first + count])) break;
      longest = std::max(longest, most_rows(model_, decoding, set, order[first + count]));
      const std::int64_t texts = static_cast<std::int64_t>(count + 1) * times;
      if (count > 0 && (texts > texts_at_once || texts * longest > cache_rows_at_once)) break;
    }
    const auto members = std::span(order).subspan(first, count);
    TextWriter writer(model_, tokenizer_, set, decoding, seen, members, required);
    writer.run();
    for (std::size_t i = 0; i < members.size(); ++i) all[members[i]] = writer.texts(i);
    if (written) written(blank + first + count);
  }
  return all;
}

}  // namespace encore::infer
