// Layout of the parameter blocks and the tables an optimizer runs over.
#include "memory/parameter_block.hpp"

#include <algorithm>

#include <encore/kernels.hpp>

namespace encore {
namespace {

/// Segments start at multiples of this many elements: 64 bytes in float32, 128 in float64.
constexpr std::int64_t segment_alignment = 16;

std::int64_t element_count(const std::vector<std::int64_t>& shape) {
  std::int64_t count = 1;
  for (const std::int64_t extent : shape) count *= extent;
  return count;
}

std::vector<ParameterSlice> lay_out(std::vector<NamedParameter> parameters) {
  std::sort(parameters.begin(), parameters.end(),
            [](const NamedParameter& a, const NamedParameter& b) { return a.path < b.path; });
  std::vector<ParameterSlice> slices;
  std::int64_t begin = 0;
  for (NamedParameter& parameter : parameters) {
    if (!slices.empty() && slices.back().path == parameter.path)
      throw Error("two parameters are called \"" + parameter.path +
                  "\"; a layer gives each of its parameters its own name");
    ENCORE_REQUIRE(parameter.spec.shape.size() <= Tensor::max_rank, "a parameter has at most four extents");
    const std::int64_t size = element_count(parameter.spec.shape);
    slices.push_back({std::move(parameter.path), std::move(parameter.spec), begin, size});
    begin += (size + segment_alignment - 1) / segment_alignment * segment_alignment;
  }
  return slices;
}

std::vector<Segment> make_segments(const std::vector<ParameterSlice>& slices) {
  std::vector<Segment> segments;
  std::int64_t chunks = 0;
  for (const ParameterSlice& slice : slices) {
    segments.push_back(
        {slice.begin, slice.begin + slice.size, slice.spec.decay ? 1.0F : 0.0F, 1.0F, chunks});
    chunks += (slice.size + Blocks::chunk_size - 1) / Blocks::chunk_size;
  }
  return segments;
}

std::vector<Chunk> make_chunks(const std::vector<Segment>& segments) {
  std::vector<Chunk> chunks;
  for (std::size_t s = 0; s < segments.size(); ++s)
    for (std::int64_t begin = segments[s].begin; begin < segments[s].end; begin += Blocks::chunk_size) {
      const std::int64_t size = std::min(Blocks::chunk_size, segments[s].end - begin);
      chunks.push_back({begin, static_cast<std::int32_t>(size), static_cast<std::int32_t>(s)});
    }
  return chunks;
}

}  // namespace

ParameterBlock::ParameterBlock(const Device& device, std::vector<NamedParameter> parameters, DType dtype,
                               std::int64_t shards)
    : device_(device), dtype_(dtype), slices_(lay_out(std::move(parameters))) {
  ENCORE_REQUIRE(dtype == DType::float32 || dtype == DType::float64, "parameters are float32 or float64");
  if (!slices_.empty())
    extent_ = slices_.back().begin +
              (slices_.back().size + segment_alignment - 1) / segment_alignment * segment_alignment;
  const std::size_t bytes = block_bytes();
  memory_ = DeviceBuffer("encore::parameters", bytes * (shards > 1 ? 3 : 2));
  values_ = Tensor(memory_.data(), dtype_, {extent_});
  gradients_ = Tensor(memory_.data() + bytes, dtype_, {extent_});
  shard_gradients_ = shards > 1 ? Tensor(memory_.data() + 2 * bytes, dtype_, {extent_}) : gradients_;
  make_tables();
}

std::size_t ParameterBlock::block_bytes() const {
  return aligned(static_cast<std::size_t>(extent_) * size_of(dtype_));
}

void ParameterBlock::make_tables() {
  const std::vector<Segment> segments = make_segments(slices_);
  const std::vector<Chunk> chunks = make_chunks(segments);
  const std::size_t segment_bytes = segments.size() * sizeof(Segment);
  const std::size_t chunk_bytes = chunks.size() * sizeof(Chunk);
  tables_ = DeviceBuffer("encore::parameter_tables", aligned(segment_bytes) + chunk_bytes);
  const auto upload = [&](const void* host, std::size_t bytes, std::byte* to) {
    copy_from_host(device_, host,
                   Tensor(to, DType::int32, {static_cast<std::int64_t>(bytes / size_of(DType::int32))}));
  };
  static_assert(sizeof(Segment) % 4 == 0 && sizeof(Chunk) % 4 == 0);
  upload(segments.data(), segment_bytes, tables_.data());
  upload(chunks.data(), chunk_bytes, tables_.data() + aligned(segment_bytes));
  segments_ = reinterpret_cast<const Segment*>(tables_.data());
  chunks_ = reinterpret_cast<const Chunk*>(tables_.data() + aligned(segment_bytes));
  chunk_count_ = static_cast<std::int64_t>(chunks.size());
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

Tensor ParameterBlock::slice(Tensor block, const ParameterSlice& parameter) {
  Tensor result;
  result.dtype = block.dtype;
  result.data =
      static_cast<std::byte*>(block.data) + static_cast<std::size_t>(parameter.begin) * size_of(block.dtype);
  for (const std::int64_t extent : parameter.spec.shape)
    result.extents[static_cast<std::size_t>(result.rank++)] = extent;
  return result;
}

void ParameterBlock::make_states(const std::vector<std::string>& names) {
  const std::size_t bytes = block_bytes();
  state_names_ = names;
  state_memory_ = DeviceBuffer("encore::optimizer_states", bytes * names.size());
  states_.clear();
  for (std::size_t i = 0; i < names.size(); ++i)
    states_.emplace_back(state_memory_.data() + i * bytes, dtype_,
                         std::initializer_list<std::int64_t>{extent_});
}

Blocks ParameterBlock::blocks(const double* gradient_scale) const {
  Blocks blocks;
  blocks.values = values_;
  blocks.gradients = gradients_;
  blocks.states = states_;
  blocks.segments = segments_;
  blocks.chunks = chunks_;
  blocks.segment_count = static_cast<std::int64_t>(slices_.size());
  blocks.chunk_count = chunk_count_;
  blocks.gradient_scale = gradient_scale;
  return blocks;
}

void ParameterBlock::zero_gradients() {
  kernels::fill(device_, 0.0, gradients_);
}

void ParameterBlock::begin_shard() {
  if (shard_gradients_.data != gradients_.data) kernels::fill(device_, 0.0, shard_gradients_);
}

void ParameterBlock::end_shard() {
  if (shard_gradients_.data != gradients_.data) kernels::add(device_, shard_gradients_, gradients_);
}

}  // namespace encore
