// SPDX-License-Identifier: BSD-3-Clause
// Implements text_alignment.hpp: encodes a pair as the task does, runs one pass, and averages the weights of
// the layers in which the decoder attends to the source. Sums run in the order of layers and heads. Read
// text_alignment.hpp first.
#include "infer/text_alignment.hpp"

#include <algorithm>
#include <cstdint>

#include <encore/target_tokenizer.hpp>

namespace encore::infer {
namespace {

/// Returns the bytes of the first `most` tokens of a text.
std::vector<ByteRange> ranges_in(const Tokenizer& tokenizer, const std::string& text, std::size_t most) {
  std::vector<std::int32_t> tokens;
  std::vector<ByteRange> ranges;
  tokenizer.encode(text, tokens, ranges);
  ranges.resize(std::min(ranges.size(), most));
  return ranges;
}

/// Returns the number of markers in front of the text in a source.
std::size_t markers_before(const Tokenizer& tokenizer, std::span<const std::int32_t> ids) {
  return !ids.empty() && tokenizer.find(Special::start) == ids.front() ? 1 : 0;
}

TextAlignment aligned(Engine& engine, const std::string& source, const std::string& target) {
  Records pair;
  pair.add("source", Records::Texts{source});
  pair.add("target", Records::Texts{target});
  const tasks::EncodedSet set = engine.encode(pair);
  const std::span<const std::int32_t> ids = set.set.ids(0), target_ids = set.set.target_ids(0);
  const auto given = static_cast<std::size_t>(engine.task().decoding().value_or(Decoding()).given);
  const std::size_t first = markers_before(engine.tokenizer(), ids);
  const Tokenizer& of_targets = target_tokenizer_of(engine.tokenizer());
  TextAlignment alignment = {.source = ranges_in(engine.tokenizer(), source, ids.size() - first - 1),
                             .target = ranges_in(of_targets, target, target_ids.size() - given),
                             .weights = {}};
  const std::size_t columns = alignment.source.size(), rows = alignment.target.size();
  const std::vector<double> mean = engine.cross_attention(set, 0);
  if (mean.empty() || columns == 0) return alignment;
  for (std::size_t row = 0; row < rows; ++row) {
    const auto begin = mean.begin() + static_cast<std::ptrdiff_t>((given - 1 + row) * ids.size() + first);
    std::vector<double> weights(begin, begin + static_cast<std::ptrdiff_t>(columns));
    double sum = 0.0;
    for (const double weight : weights) sum += weight;
    for (double& weight : weights) weight = sum > 0.0 ? weight / sum : 1.0 / static_cast<double>(columns);
    alignment.weights.insert(alignment.weights.end(), weights.begin(), weights.end());
  }
  return alignment;
}

}  // namespace

std::vector<TextAlignment> align_texts(Engine& engine, const std::vector<std::string>& sources,
                                       const std::vector<std::string>& targets) {
  ENCORE_REQUIRE(sources.size() == targets.size(), "each source has a target");
  std::vector<TextAlignment> all;
  for (std::size_t i = 0; i < sources.size(); ++i) all.push_back(aligned(engine, sources[i], targets[i]));
  return all;
}

}  // namespace encore::infer
