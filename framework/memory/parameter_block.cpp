// SPDX-License-Identifier: BSD-3-Clause
// Implements ParameterBlock: allocates the blocks of values, gradients and optimizer states, and the tables
// over which an optimizer runs. Model makes one; train/ passes blocks() to the optimizer. Offsets come from
// parameter_layout.cpp. Read parameter_block.hpp first.
#include "memory/parameter_block.hpp"

#include <algorithm>
#include <span>

#include <encore/kernels.hpp>
#include <encore/rows.hpp>
#include <encore/view.hpp>

namespace encore::memory {
namespace {

/// Sets copies = values rounded to nearest, for every segment that has a copy.
template <class T>
void round_to_copies(const Device& device, const float* values, const Segment* segments, const Chunk* chunks,
                     std::int64_t chunk_count, const std::int64_t* copy_begins, T* copies) {
  for_uneven_rows(
      device, "encore::refresh_copies", chunk_count, KOKKOS_LAMBDA(const Row& row) {
        const Chunk chunk = chunks[row.index];
        const std::int64_t copy_begin = copy_begins[chunk.segment];
        if (copy_begin < 0) return;
        const float* from = values + chunk.begin;
        T* to = copies + copy_begin + (chunk.begin - segments[chunk.segment].begin);
        row.each(chunk.size, [&](std::int64_t i) { to[i] = T(from[i]); });
      });
}

/// Uploads a table, word by word.
void upload_table(const Device& device, const void* host, std::size_t bytes, std::byte* to) {
  copy_from_host(device, host,
                 Tensor(to, DType::int32, {static_cast<std::int64_t>(bytes / size_of(DType::int32))}));
}

}  // namespace

ParameterBlock::ParameterBlock(const Device& device, std::vector<NamedParameter> parameters, DType precision,
                               std::int64_t shards, Use use)
    : device_(device),
      use_(use),
      precision_(precision),
      dtype_(sum_type(precision)),
      slices_(lay_out(std::move(parameters))) {
  ENCORE_REQUIRE(is_activation(precision),
                 std::string("activations cannot have elements of type ") + name_of(precision));
  const BlockExtents extents = place_copies(slices_, precision);
  extent_ = extents.values;
  owned_ = {0, extent_};
  make_blocks(shards);
  make_copies(extents);
  make_tables();
}

void ParameterBlock::make_blocks(std::int64_t shards) {
  const std::size_t bytes = block_bytes();
  if (use_ == Use::inference) {  // zeros would cost a pass, and are overwritten or never used
    memory_ = DeviceBuffer("encore::parameters", bytes, Contents::undefined);
    values_ = Tensor(memory_.data(), dtype_, {extent_});
    return;
  }
  memory_ = DeviceBuffer("encore::parameters", bytes * (shards > 1 ? 3 : 2));
  values_ = Tensor(memory_.data(), dtype_, {extent_});
  gradients_ = Tensor(memory_.data() + bytes, dtype_, {extent_});
  shard_gradients_ = shards > 1 ? Tensor(memory_.data() + 2 * bytes, dtype_, {extent_}) : gradients_;
}

void ParameterBlock::make_copies(const BlockExtents& extents) {
  if (extents.copies > 0)
    copy_memory_ = DeviceBuffer("encore::parameter_copies",
                                static_cast<std::size_t>(extents.copies) * size_of(precision_));
  if (extents.adapted == 0) return;
  const std::size_t bytes = static_cast<std::size_t>(extents.adapted) * size_of(dtype_);
  const std::size_t scratch = static_cast<std::size_t>(extents.adapter_scratch) * size_of(dtype_);
  adapted_memory_ = DeviceBuffer("encore::adapted_parameters", bytes + scratch);
  adapter_scratch_ = Tensor(adapted_memory_.data() + bytes, dtype_, {extents.adapter_scratch});
}

std::size_t ParameterBlock::block_bytes() const {
  return aligned(static_cast<std::size_t>(extent_) * size_of(dtype_));
}

void ParameterBlock::make_tables() {
  const std::vector<Segment> segments = make_segments(slices_);
  std::vector<Chunk> chunks = make_chunks(slices_);
  chunk_count_ = static_cast<std::int64_t>(chunks.size());
  // The table is filled up to whole words, in which it is uploaded.
  std::vector<ChunkGradient> known((chunks.size() + 3) / 4 * 4, ChunkGradient::present);
  for (const Chunk& chunk : make_chunks(slices_, true)) chunks.push_back(chunk);
  all_chunk_count_ = static_cast<std::int64_t>(chunks.size());
  const std::size_t segment_bytes = segments.size() * sizeof(Segment);
  const std::size_t chunk_bytes = chunks.size() * sizeof(Chunk);
  std::vector<std::int64_t> copy_begins;
  for (const ParameterSlice& slice : slices_) copy_begins.push_back(slice.copy_begin);
  const std::size_t copy_bytes = copy_begins.size() * sizeof(std::int64_t);
  for (std::size_t s = 0; s < slices_.size(); ++s) {
    const std::int64_t rows = chunk_rows(slices_[s].spec), first = segments[s].first_chunk;
    if (rows == 0 || slices_[s].frozen) continue;
    row_chunks_.push_back({first, chunk_count(slices_[s]), rows});
    std::fill_n(known.begin() + first, row_chunks_.back().chunk_count, ChunkGradient::never);
  }
  tables_ = DeviceBuffer("encore::parameter_tables", aligned(segment_bytes) + aligned(chunk_bytes) +
                                                         aligned(copy_bytes) + aligned(known.size()));
  std::byte* const chunk_table = tables_.data() + aligned(segment_bytes);
  std::byte* const copy_table = chunk_table + aligned(chunk_bytes);
  std::byte* const known_table = copy_table + aligned(copy_bytes);
  static_assert(sizeof(Segment) % 4 == 0 && sizeof(Chunk) % 4 == 0);
  upload_table(device_, segments.data(), segment_bytes, tables_.data());
  upload_table(device_, chunks.data(), chunk_bytes, chunk_table);
  upload_table(device_, copy_begins.data(), copy_bytes, copy_table);
  upload_table(device_, known.data(), known.size(), known_table);
  segments_ = reinterpret_cast<const Segment*>(tables_.data());
  chunks_ = reinterpret_cast<const Chunk*>(chunk_table);
  copy_begins_ = reinterpret_cast<const std::int64_t*>(copy_table);
  chunk_gradients_ = reinterpret_cast<ChunkGradient*>(known_table);
}

const ParameterSlice& ParameterBlock::find(std::string_view path) const {
  const auto found =
      std::lower_bound(slices_.begin(), slices_.end(), path,
                       [](const ParameterSlice& slice, std::string_view name) { return slice.path < name; });
  ENCORE_REQUIRE(found != slices_.end() && found->path == path,
                 "no parameter is called \"" + std::string(path) + "\"");
  return *found;
}

std::int64_t ParameterBlock::count() const {
  std::int64_t count = 0;
  for (const ParameterSlice& slice : slices_) count += slice.size;
  return count;
}

bool ParameterBlock::place_at(const ParameterSlice& parameter, const std::byte* host) {
  ENCORE_REQUIRE(use_ == Use::inference, "a parameter that is trained lies in the block");
  if (!host_reaches_device() || precision_ != dtype_ ||
      reinterpret_cast<std::uintptr_t>(host) % tensor_alignment != 0)
    return false;
  slices_[static_cast<std::size_t>(&find(parameter.path) - slices_.data())].elsewhere = host;
  return true;
}

/// Returns the parameter's own values, without its adapter.
Tensor ParameterBlock::base(const ParameterSlice& parameter) const {
  Tensor values = slice(values_, parameter);
  if (parameter.elsewhere != nullptr) values.data = const_cast<std::byte*>(parameter.elsewhere);
  return values;
}

Tensor ParameterBlock::adapted(const ParameterSlice& parameter) const {
  Tensor values = base(parameter);
  if (parameter.adapted_begin >= 0)
    values.data =
        adapted_memory_.data() + static_cast<std::size_t>(parameter.adapted_begin) * size_of(dtype_);
  return values;
}

Tensor ParameterBlock::seen_by_passes(const ParameterSlice& parameter, Element element) const {
  Tensor seen = adapted(parameter);
  if (parameter.copy_begin < 0 || element != Element::activation) return seen;
  seen.dtype = precision_;
  seen.data = copy_memory_.data() + static_cast<std::size_t>(parameter.copy_begin) * size_of(precision_);
  return seen;
}

void ParameterBlock::refresh_copies() {
  if (!copies_are_old_) return;
  copies_are_old_ = false;
  if (copy_memory_.bytes() > 0)
    dispatch(precision_, [&](auto type) {
      round_to_copies(device_, elements<float>(values_), segments_, chunks_, all_chunk_count_, copy_begins_,
                      reinterpret_cast<decltype(type)*>(copy_memory_.data()));
    });
  for (const ParameterSlice& slice : slices_) {
    if (!slice.adapter) continue;
    adapt(device_, parts(slice, values_), slice.adapter->scale, adapter_scratch_, adapted(slice));
    if (slice.copy_begin >= 0)
      kernels::copy(device_, adapted(slice), seen_by_passes(slice, Element::activation));
  }
}

/// Returns a matrix with an adapter, and its two factors, in `block` (values or gradients).
AdapterTensors ParameterBlock::parts(const ParameterSlice& matrix, Tensor block) const {
  const auto part = [&](const ParameterSlice& parameter) {
    return block.data == values_.data ? base(parameter) : slice(block, parameter);
  };
  return {.matrix = part(matrix), .a = part(find(matrix.adapter->a)), .b = part(find(matrix.adapter->b))};
}

Tensor ParameterBlock::slice(Tensor block, const ParameterSlice& parameter) {
  if (!block) return {};
  Tensor result;
  result.dtype = block.dtype;
  result.data =
      static_cast<std::byte*>(block.data) + static_cast<std::size_t>(parameter.begin) * size_of(block.dtype);
  for (const std::int64_t extent : parameter.spec.shape)
    result.extents[static_cast<std::size_t>(result.rank++)] = extent;
  return result;
}

Tensor ParameterBlock::range(Tensor block, const BlockRange& range) {
  return {static_cast<std::byte*>(block.data) + static_cast<std::size_t>(range.begin) * size_of(block.dtype),
          block.dtype,
          {range.size()}};
}

void ParameterBlock::own(const BlockRange& range) {
  ENCORE_REQUIRE(states_.empty(), "what is owned is said before the states are made");
  owned_ = range;
  owned_tables_ = DeviceBuffer();
  if (range == BlockRange{0, extent_}) return;
  const RangeTables tables = encore::memory::make_tables(slices_, range);
  const std::size_t segment_bytes = tables.segments.size() * sizeof(Segment);
  const std::size_t chunk_bytes = tables.chunks.size() * sizeof(Chunk);
  owned_tables_ = DeviceBuffer("encore::owned_tables", aligned(segment_bytes) + aligned(chunk_bytes) + 1);
  std::byte* const chunk_table = owned_tables_.data() + aligned(segment_bytes);
  upload_table(device_, tables.segments.data(), segment_bytes, owned_tables_.data());
  upload_table(device_, tables.chunks.data(), chunk_bytes, chunk_table);
  owned_blocks_.segments = reinterpret_cast<const Segment*>(owned_tables_.data());
  owned_blocks_.chunks = reinterpret_cast<const Chunk*>(chunk_table);
  owned_blocks_.segment_count = std::ssize(tables.segments);
  owned_blocks_.chunk_count = std::ssize(tables.chunks);
  owned_first_chunk_ = tables.first_chunk;
  owned_row_chunks_.clear();
  const std::int64_t end = owned_first_chunk_ + owned_blocks_.chunk_count;
  for (const RowChunks& rows : row_chunks_) {
    const std::int64_t first = std::max(rows.first_chunk, owned_first_chunk_);
    const std::int64_t last = std::min(rows.first_chunk + rows.chunk_count, end);
    if (first < last)
      owned_row_chunks_.push_back({first - owned_first_chunk_, last - first, rows.rows_per_chunk});
  }
}

void ParameterBlock::make_states(const std::vector<std::string>& names) {
  const std::size_t bytes = aligned(static_cast<std::size_t>(owned_.size()) * size_of(dtype_));
  state_names_ = names;
  state_memory_ = DeviceBuffer("encore::optimizer_states", bytes * names.size());
  states_.clear();
  for (std::size_t i = 0; i < names.size(); ++i)
    states_.emplace_back(state_memory_.data() + i * bytes, dtype_,
                         std::initializer_list<std::int64_t>{owned_.size()});
}

Blocks ParameterBlock::blocks(const double* gradient_scale) {
  values_changed();
  Blocks blocks = of_owned();
  blocks.gradient_scale = gradient_scale;
  if (states_are_new_)
    for (const RowChunks& chunks : owned_tables_.bytes() > 0 ? owned_row_chunks_ : row_chunks_)
      find_zero_states(device_, blocks, chunks, chunk_gradients_ + owned_first_chunk_);
  states_are_new_ = false;
  return blocks;
}

Blocks ParameterBlock::of_owned() const {
  if (owned_tables_.bytes() == 0) return all();
  Blocks blocks = owned_blocks_;
  blocks.values = range(values_, owned_);
  blocks.gradients = range(gradients_, owned_);
  blocks.states = states_;
  blocks.chunk_gradients = chunk_gradients_ + owned_first_chunk_;
  return blocks;
}

Blocks ParameterBlock::all() const {
  Blocks blocks;
  blocks.values = values_;
  blocks.gradients = gradients_;
  blocks.states = states_;
  blocks.segments = segments_;
  blocks.chunks = chunks_;
  blocks.segment_count = static_cast<std::int64_t>(slices_.size());
  blocks.chunk_count = chunk_count_;
  blocks.chunk_gradients = chunk_gradients_;
  return blocks;
}

void ParameterBlock::sum_gradient_squares(double* result) const {
  kernels::sum_of_squares(device_, all(), result);
}

Blocks ParameterBlock::chunk_blocks(std::int64_t first, std::int64_t count) const {
  Blocks blocks = all();
  blocks.chunks += first;
  blocks.chunk_gradients += first;
  blocks.chunk_count = count;
  return blocks;
}

void ParameterBlock::zero_gradients() {
  encore::memory::zero_gradients(device_, of_owned());
  for (const ParameterSlice& parameter : slices_)  // no optimizer sees it, but passes add to it
    if (parameter.adapter) kernels::fill(device_, 0.0, slice(gradients_, parameter));
  for (const RowChunks& chunks : row_chunks_) forget_gradients(device_, chunks, chunk_gradients_);
}

void ParameterBlock::mark_rows(const RowSet& batch) {
  for (const RowChunks& chunks : row_chunks_)
    encore::memory::mark_rows(device_, batch, chunks, chunk_gradients_);
}

void ParameterBlock::mark_rows(const ChunkGradient* of_batch) {
  for (const RowChunks& chunks : row_chunks_)
    mark_chunks(device_, of_batch + chunks.first_chunk, chunks, chunk_gradients_);
}

GradientCounts ParameterBlock::gradient_counts() const {
  std::vector<ChunkGradient> known(static_cast<std::size_t>((chunk_count_ + 3) / 4 * 4));
  copy_to_host(device_, Tensor(chunk_gradients_, DType::int32, {static_cast<std::int64_t>(known.size()) / 4}),
               known.data());
  GradientCounts counts;
  counts.chunks = chunk_count_;
  for (const RowChunks& chunks : row_chunks_) counts.row_chunks += chunks.chunk_count;
  std::size_t number = 0;
  for (const Chunk& chunk : make_chunks(slices_)) {
    const ChunkGradient what = known[number++];
    (what == ChunkGradient::never    ? counts.never
     : what == ChunkGradient::absent ? counts.absent
                                     : counts.present) += chunk.size;
  }
  return counts;
}

void ParameterBlock::begin_shard() {
  if (shard_gradients_.data != gradients_.data) kernels::fill(device_, 0.0, shard_gradients_);
}

void ParameterBlock::end_shard() {
  if (shard_gradients_.data != gradients_.data) kernels::add(device_, shard_gradients_, gradients_);
}

void ParameterBlock::end_shards() {
  for (const ParameterSlice& parameter : slices_)
    if (parameter.adapter)
      project_gradient(device_, parts(parameter, values_), parts(parameter, gradients_),
                       parameter.adapter->scale, adapter_scratch_);
}

}  // namespace encore::memory
