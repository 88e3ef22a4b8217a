// Prompts of about equal length are answered together.
#include "infer/generator.hpp"

#include <algorithm>
#include <numeric>
#include <span>
#include <string>

#include <encore/error.hpp>

#include "infer/text_writer.hpp"
#include "record/generate_request.hpp"

namespace encore {
namespace {

/// Texts that are written at a time, and the rows of the cache that they may have together: a few gigabytes
/// in a large model.
constexpr std::int64_t texts_at_once = 128, cache_rows_at_once = 32768;

/// Sequences, those with the shortest sources or prompts first.
std::vector<std::size_t> by_length(const ExampleSet& set) {
  std::vector<std::size_t> order(set.sequence_count());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, {}, [&](std::size_t sequence) { return set.ids(sequence).size(); });
  return order;
}

}  // namespace

std::vector<std::vector<GeneratedText>> Generator::run(const ExampleSet& set, const Decoding& decoding,
                                                       const Seen& seen, const Written& written) {
  if (const std::string wrong = contradiction_in(decoding); !wrong.empty()) throw Error(wrong);
  std::vector<std::vector<GeneratedText>> all(set.sequence_count());
  const std::vector<std::size_t> order = by_length(set);
  const std::int64_t times = parallel_texts(decoding);
  for (std::size_t first = 0, count = 0; first < order.size(); first += count) {
    std::int64_t longest = 0;
    for (count = 0; first + count < order.size(); ++count) {
      longest = std::max(longest, most_rows(model_, decoding, set, order[first + count]));
      const std::int64_t texts = static_cast<std::int64_t>(count + 1) * times;
      if (count > 0 && (texts > texts_at_once || texts * longest > cache_rows_at_once)) break;
    }
    const auto members = std::span(order).subspan(first, count);
    TextWriter writer(model_, tokenizer_, set, decoding, seen, members);
    writer.run();
    for (std::size_t i = 0; i < members.size(); ++i) all[members[i]] = writer.texts(i);
    if (written) written(first + count);
  }
  return all;
}

}  // namespace encore
