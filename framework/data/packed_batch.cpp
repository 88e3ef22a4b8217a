// SPDX-License-Identifier: BSD-3-Clause
// Computes the layout of a packed batch: offsets of its sequences, borders of its shards, and sizes.
// packing.cpp and largest_batch.cpp call lay_out. Results depend on the order of rows and on the borders of
// shards, so neither may change. Read packed_batch.hpp first.
#include "data/packed_batch.hpp"

#include <algorithm>
#include <cstdlib>

#include <encore/error.hpp>

namespace encore::data {
namespace {

/// Returns the rows to which every sequence is padded, or 0 without padding.
std::int64_t padded_length(const ExampleSet& set, std::span<const std::int32_t> members,
                           const Packing& packing) {
  if (packing.batching == config::Batching::packed) return 0;
  std::size_t longest = 0;
  for (const std::int32_t member : members) {
    const Run of = set.sequences(static_cast<std::size_t>(member));
    for (std::size_t s = of.first; s < of.first + of.count; ++s)
      longest = std::max(longest, set.ids(s).size());
  }
  const auto length = static_cast<std::int64_t>(longest);
  ENCORE_REQUIRE(packing.padded_length == 0 || packing.padded_length >= length,
                 "padded_length is shorter than a sequence");
  return packing.padded_length == 0 ? length : packing.padded_length;
}

void add_length(std::size_t length, std::vector<std::int32_t>& offsets) {
  offsets.push_back(static_cast<std::int32_t>(offsets.back() + static_cast<std::int64_t>(length)));
}

std::int64_t distance(std::span<const std::int32_t> offsets, std::int32_t border, std::int64_t row) {
  return std::abs(offsets[static_cast<std::size_t>(border)] - row);
}

}  // namespace

RowSetSize size_between(std::span<const std::int32_t> offsets) {
  RowSetSize size;
  if (offsets.empty()) return size;
  size.tokens = offsets.back() - offsets.front();
  size.sequences = static_cast<std::int64_t>(offsets.size()) - 1;
  for (std::size_t i = 1; i < offsets.size(); ++i) {
    const std::int64_t length = offsets[i] - offsets[i - 1];
    size.squares += length * length;
    size.longest = std::max(size.longest, length);
  }
  return size;
}

RowSetSize PackedRows::size() const {
  return size_between(offsets);
}

BatchSize PackedBatch::size() const {
  return {PackedRows::size(), target.size(), static_cast<std::int64_t>(picked.size())};
}

void lay_out(const ExampleSet& set, std::span<const std::int32_t> members, const Packing& packing,
             PackedBatch& batch) {
  const auto full = static_cast<std::size_t>(padded_length(set, members, packing));
  batch.offsets.assign(1, 0);
  batch.target.offsets.assign(set.has_target() ? 1 : 0, 0);
  batch.borders.assign(1, 0);
  batch.sequences.clear();
  batch.real_tokens = 0;
  const auto add_sequence = [&](std::size_t length, std::size_t number) {
    add_length(length, batch.offsets);
    batch.sequences.push_back(static_cast<std::int64_t>(number));
  };
  const auto add_border = [&] { batch.borders.push_back(static_cast<std::int32_t>(batch.sequences.size())); };
  for (const std::int32_t member : members) {
    const Run of = set.sequences(static_cast<std::size_t>(member));
    for (std::size_t s = of.first; s < of.first + of.count; ++s) {
      const std::size_t length = set.ids(s).size(), target = set.target_ids(s).size();
      add_sequence(length, s);
      if (set.has_target()) add_length(target, batch.target.offsets);
      batch.real_tokens += static_cast<std::int64_t>(length + target);
      if (length >= full) continue;
      if (of.count == 1) add_border();  // a border may separate a sequence from its padding
      add_sequence(full - length, s);
    }
    add_border();
  }
}

std::vector<SequenceRange> cut_shards(std::span<const std::int32_t> offsets,
                                      std::span<const std::int32_t> borders, std::int64_t shards) {
  ENCORE_REQUIRE(shards >= 1, "a batch is cut into at least one shard");
  ENCORE_REQUIRE(!offsets.empty() && !borders.empty(), "offsets and borders hold at least the leading 0");
  const std::int64_t rows = offsets.back();
  std::vector<SequenceRange> ranges;
  std::size_t border = 0;
  for (std::int64_t shard = 1; shard <= shards; ++shard) {
    const std::int64_t first = borders[border];
    // Takes the border nearest to the shard's share of the rows; the lower one if two are equally near.
    const std::int64_t share = rows * shard / shards;
    while (border + 1 < borders.size() &&
           distance(offsets, borders[border + 1], share) < distance(offsets, borders[border], share))
      ++border;
    if (shard == shards) border = borders.size() - 1;
    ranges.push_back({first, borders[border]});
  }
  return ranges;
}

}  // namespace encore::data
