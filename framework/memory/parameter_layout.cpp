// SPDX-License-Identifier: BSD-3-Clause
// Implements parameter_layout.hpp: gives parameters their offsets, ordered by path, and cuts the blocks into
// chunks and segments for the optimizer. ParameterBlock and model/model_cost.cpp call it; no memory is
// allocated. Chunks decide the order of sums over gradients, so another cut changes the bits of runs. Read
// parameter_layout.hpp first.
#include "memory/parameter_layout.hpp"

#include <algorithm>
#include <utility>

#include <encore/error.hpp>

#include "memory/chunk_gradients.hpp"
#include "memory/device_memory.hpp"

namespace encore::memory {
namespace {

std::int64_t element_count(std::span<const std::int64_t> shape) {
  std::int64_t count = 1;
  for (const std::int64_t extent : shape) count *= extent;
  return count;
}

/// Returns the elements of each chunk but the last.
std::int64_t chunk_extent(const ParameterSpec& spec) {
  const std::int64_t rows = chunk_rows(spec);
  return rows == 0 ? Blocks::chunk_size : rows * element_count(std::span(spec.shape).subspan(1));
}

/// Throws Error if no machine can address the parameters. Sizes are computed in doubles, because the extents
/// of a plugin's layer may be of any size.
void require_addressable(const std::vector<NamedParameter>& parameters) {
  double bytes = 0.0;
  for (const NamedParameter& parameter : parameters) {
    double size = sizeof(float);
    for (const std::int64_t extent : parameter.spec.shape) size *= static_cast<double>(extent);
    bytes += size;
  }
  if (bytes > most_addressable_bytes) fail_out_of_memory("parameters", bytes);
}

}  // namespace

std::vector<ParameterSlice> lay_out(std::vector<NamedParameter> parameters) {
  require_addressable(parameters);
  std::sort(parameters.begin(), parameters.end(),
            [](const NamedParameter& a, const NamedParameter& b) { return a.path < b.path; });
  std::vector<ParameterSlice> slices;
  std::int64_t begin = 0;
  for (NamedParameter& parameter : parameters) {
    if (!slices.empty() && slices.back().path == parameter.path)
      throw Error("two parameters are called \"" + parameter.path +
                  "\"; a layer gives each of its parameters its own name");
    ENCORE_REQUIRE(parameter.spec.shape.size() <= Tensor::max_rank, "a parameter has at most four extents");
    if (parameter.spec.token_rows && parameter.spec.shape.empty())
      throw Error("parameter \"" + parameter.path +
                  "\" has token_rows and no rows; give it the shape (vocabulary, ...)");
    const std::int64_t size = element_count(parameter.spec.shape);
    slices.push_back({.path = std::move(parameter.path),
                      .spec = std::move(parameter.spec),
                      .begin = begin,
                      .size = size,
                      .frozen = parameter.frozen,
                      .learning_rate = parameter.learning_rate,
                      .adapter = std::move(parameter.adapter),
                      .factor = parameter.factor});
    begin += round_up(size, segment_alignment);
  }
  return slices;
}

BlockExtents place_copies(std::vector<ParameterSlice>& slices, DType precision) {
  BlockExtents extents;
  if (!slices.empty()) extents.values = slices.back().begin + round_up(slices.back().size, segment_alignment);
  for (ParameterSlice& slice : slices) {
    if (precision == sum_type(precision) || slice.spec.element != Element::activation) continue;
    slice.copy_begin = extents.copies;
    extents.copies += round_up(slice.size, copy_alignment);
  }
  for (ParameterSlice& slice : slices) {
    if (!slice.adapter) continue;
    ENCORE_REQUIRE(slice.frozen, "a matrix with an adapter stays as it is");
    slice.adapted_begin = extents.adapted;
    extents.adapted += round_up(slice.size, segment_alignment);
    for (const std::string& factor : {slice.adapter->a, slice.adapter->b})
      extents.adapter_scratch =
          std::max(extents.adapter_scratch, std::ranges::find(slices, factor, &ParameterSlice::path)->size);
  }
  return extents;
}

std::int64_t chunk_rows(const ParameterSpec& spec) {
  return spec.token_rows ? rows_per_chunk(element_count(std::span(spec.shape).subspan(1))) : 0;
}

std::int64_t chunk_count(const ParameterSlice& slice) {
  const std::int64_t extent = chunk_extent(slice.spec);
  return (slice.size + extent - 1) / extent;
}

std::vector<Segment> make_segments(const std::vector<ParameterSlice>& slices) {
  std::vector<Segment> segments;
  std::int64_t chunks = 0;
  for (const ParameterSlice& slice : slices) {
    segments.push_back({.begin = slice.begin,
                        .end = slice.begin + slice.size,
                        .decay = slice.spec.decay ? 1.0F : 0.0F,
                        .learning_rate = slice.learning_rate,
                        .first_chunk = chunks});
    if (!slice.frozen) chunks += chunk_count(slice);
  }
  return segments;
}

std::vector<Chunk> make_chunks(const std::vector<ParameterSlice>& slices, bool frozen) {
  std::vector<Chunk> chunks;
  for (std::size_t s = 0; s < slices.size(); ++s) {
    if (slices[s].frozen != frozen) continue;
    const std::int64_t extent = chunk_extent(slices[s].spec);
    for (std::int64_t begin = 0; begin < slices[s].size; begin += extent) {
      const std::int64_t size = std::min(extent, slices[s].size - begin);
      chunks.push_back(
          {slices[s].begin + begin, static_cast<std::int32_t>(size), static_cast<std::int32_t>(s)});
    }
  }
  return chunks;
}

std::vector<std::int64_t> cut_blocks(const std::vector<ParameterSlice>& slices, std::int64_t parts,
                                     UpdateReach reach) {
  std::vector<std::int64_t> places;
  if (reach == UpdateReach::segment)
    for (const ParameterSlice& slice : slices) places.push_back(slice.begin);
  else
    for (const Chunk& chunk : make_chunks(slices)) places.push_back(chunk.begin);
  const std::int64_t extent =
      slices.empty() ? 0 : slices.back().begin + round_up(slices.back().size, segment_alignment);
  places.push_back(extent);
  std::vector<std::int64_t> borders = {0};
  for (std::int64_t part = 1; part < parts; ++part) {
    const std::int64_t share = extent / parts * part + extent % parts * part / parts;
    auto nearest = std::ranges::lower_bound(places, share);
    if (nearest != places.begin() && share - *(nearest - 1) <= *nearest - share) --nearest;
    borders.push_back(std::max(borders.back(), *nearest));
  }
  borders.push_back(extent);
  return borders;
}

RangeTables make_tables(const std::vector<ParameterSlice>& slices, const BlockRange& range) {
  RangeTables tables;
  const std::vector<Chunk> chunks = make_chunks(slices);
  const auto number = [&](std::int64_t begin) {
    return std::ranges::lower_bound(chunks, begin, {}, &Chunk::begin) - chunks.begin();
  };
  const std::int64_t first = number(range.begin), last = number(range.end);
  tables.first_chunk = first;
  if (first == last) return tables;
  const std::int32_t first_segment = chunks[static_cast<std::size_t>(first)].segment;
  const std::int32_t last_segment = chunks[static_cast<std::size_t>(last - 1)].segment;
  const std::vector<Segment> all = make_segments(slices);
  for (std::int32_t s = first_segment; s <= last_segment; ++s) {
    Segment& segment = tables.segments.emplace_back(all[static_cast<std::size_t>(s)]);
    segment.begin = std::max(segment.begin, range.begin) - range.begin;
    segment.end = std::min(segment.end, range.end) - range.begin;
    segment.first_chunk = std::max(segment.first_chunk, first) - first;
  }
  for (std::int64_t c = first; c < last; ++c) {
    const Chunk& chunk = chunks[static_cast<std::size_t>(c)];
    tables.chunks.push_back({chunk.begin - range.begin, chunk.size, chunk.segment - first_segment});
  }
  return tables;
}

}  // namespace encore::memory
