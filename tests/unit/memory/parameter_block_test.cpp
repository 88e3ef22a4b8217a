// SPDX-License-Identifier: BSD-3-Clause
// Tests ParameterBlock (memory/parameter_block.hpp), which holds all parameters of a model: their order by
// path and their alignment, equal offsets in values, gradients and optimizer states, bfloat16 copies for
// passes, adding up the gradients of a batch's shards, and inference with values that stay in memory of the
// caller (place_at()). Checkpoints read slices by path, so paths and order must stay.
#include "memory/parameter_block.hpp"

#include <gtest/gtest.h>

#include <numeric>

#include <encore/bfloat16.hpp>
#include <encore/kernels.hpp>

namespace encore::memory {
namespace {

std::vector<NamedParameter> some_parameters() {
  return {{"head.weight", {"weight", {5, 8}, Initializer::xavier_uniform, 0.0, true}},
          {"embedding.tokens", {"tokens", {1000, 8}, Initializer::normal, 0.1, true}},
          {"encoder.0.norm.gain", {"gain", {7}, Initializer::ones, 0.0, false}}};
}

/// Returns `count` values from the device.
template <class T>
std::vector<T> read(const Device& device, const void* memory, std::int64_t count) {
  std::vector<T> host(static_cast<std::size_t>(count));
  const auto words = static_cast<std::int64_t>(host.size() * sizeof(T) / 4);
  copy_to_host(device, Tensor(const_cast<void*>(memory), DType::int32, {words}), host.data());
  return host;
}

TEST(ParameterBlock, IsOrderedByPathAndAligned) {
  const Device device;
  const ParameterBlock block(device, some_parameters(), DType::float32, 1);
  ASSERT_EQ(block.slices().size(), 3u);
  EXPECT_EQ(block.slices()[0].path, "embedding.tokens");
  EXPECT_EQ(block.slices()[1].path, "encoder.0.norm.gain");
  EXPECT_EQ(block.slices()[2].path, "head.weight");
  EXPECT_EQ(block.count(), 8000 + 7 + 40);
  for (const ParameterSlice& slice : block.slices()) {
    const Tensor tensor = ParameterBlock::slice(block.values(), slice);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(tensor.data) % tensor_alignment, 0u) << slice.path;
    EXPECT_EQ(tensor.size(), slice.size);
  }
  const Tensor weight = ParameterBlock::slice(block.gradients(), block.find("head.weight"));
  EXPECT_EQ(weight.rank, 2);
  EXPECT_EQ(weight.extent(0), 5);
  EXPECT_EQ(weight.extent(1), 8);
}

TEST(ParameterBlock, HasNoGradientsForInference) {
  const Device device;
  ParameterBlock block(device, some_parameters(), DType::float32, 2, Use::inference);
  const ParameterSlice& weight = block.find("head.weight");
  EXPECT_FALSE(block.gradients());
  EXPECT_FALSE(block.shard_gradients());
  EXPECT_FALSE(ParameterBlock::slice(block.gradients(), weight));
  EXPECT_EQ(block.seen_by_passes(weight, Element::activation).data,
            ParameterBlock::slice(block.values(), weight).data);

  alignas(tensor_alignment) std::byte host[tensor_alignment + 160] = {};
  EXPECT_FALSE(block.place_at(weight, host + 4)) << "an address without the alignment of vectors";
  if (block.place_at(weight, host)) {  // false if the device cannot read memory of the host
    EXPECT_EQ(block.seen_by_passes(weight, Element::activation).data, host);
  }
  ParameterBlock narrow(device, some_parameters(), DType::bfloat16, 1, Use::inference);
  EXPECT_FALSE(narrow.place_at(narrow.find("head.weight"), host)) << "passes read its copy";
  ParameterBlock trained(device, some_parameters(), DType::float32, 1);
  EXPECT_THROW(trained.place_at(trained.find("head.weight"), host), std::logic_error);
}

TEST(ParameterBlock, RefusesMoreThanAMachineAddresses) {
  const Device device;
  const auto refusal = [&](std::vector<std::int64_t> shape, int count) -> std::string {
    std::vector<NamedParameter> parameters;
    for (int i = 0; i < count; ++i) parameters.push_back({"p" + std::to_string(i), {"p", shape}});
    try {
      ParameterBlock(device, parameters, DType::float32, 1);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  constexpr std::int64_t large = std::int64_t{1} << 31;
  EXPECT_TRUE(refusal({large, large}, 1)
                  .starts_with("out of memory: there are no 17179869184.0 GiB for parameters;"));
  EXPECT_TRUE(
      refusal({large, large}, 4).starts_with("out of memory: there are no 68719476736.0 GiB for parameters;"))
      << "4 * 2^62 elements are 0 in 64 bits";
}

TEST(ParameterBlock, EveryBlockHasTheSameOffsets) {
  const Device device;
  ParameterBlock block(device, some_parameters(), DType::float64, 2);
  block.make_states({"first", "second"});
  for (const Tensor other : {block.gradients(), block.shard_gradients(), block.state(0), block.state(1)}) {
    EXPECT_EQ(other.size(), block.values().size());
    EXPECT_NE(other.data, block.values().data);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(other.data) % tensor_alignment, 0u);
  }
  EXPECT_EQ(block.state_names(), (std::vector<std::string>{"first", "second"}));
}

TEST(ParameterBlock, ChunksCoverEachSegmentInOrder) {
  const Device device;
  ParameterBlock parameters(device, some_parameters(), DType::float32, 1);
  const Blocks blocks = parameters.blocks(nullptr);
  const auto segments = read<Segment>(device, blocks.segments, blocks.segment_count);
  const auto chunks = read<Chunk>(device, blocks.chunks, blocks.chunk_count);
  ASSERT_EQ(segments.size(), 3u);
  EXPECT_EQ(segments[0].decay, 1.0F);
  EXPECT_EQ(segments[1].decay, 0.0F);
  std::vector<std::int64_t> covered(segments.size(), 0);
  for (const Chunk& chunk : chunks) {
    const auto s = static_cast<std::size_t>(chunk.segment);
    EXPECT_EQ(chunk.begin, segments[s].begin + covered[s]);
    if (covered[s] == 0) {
      EXPECT_EQ(&chunk - chunks.data(), segments[s].first_chunk);
    }
    EXPECT_GT(chunk.size, 0);
    EXPECT_LE(chunk.size, Blocks::chunk_size);
    covered[s] += chunk.size;
  }
  for (std::size_t s = 0; s < segments.size(); ++s)
    EXPECT_EQ(covered[s], segments[s].end - segments[s].begin);
}

TEST(ParameterBlock, ShardsAreAddedOneAfterAnother) {
  const Device device;
  ParameterBlock block(device, some_parameters(), DType::float32, 2);
  block.zero_gradients();
  for (const double value : {1.5, 2.0}) {
    block.begin_shard();
    kernels::add(device, block.shard_gradients(), block.shard_gradients());  // zeros stay zeros
    const auto before = read<float>(device, block.shard_gradients().data, block.shard_gradients().size());
    EXPECT_EQ(std::accumulate(before.begin(), before.end(), 0.0F), 0.0F);
    kernels::fill(device, value, block.shard_gradients());
    block.end_shard();
  }
  EXPECT_EQ(read<float>(device, block.gradients().data, 1)[0], 3.5F);
}

TEST(ParameterBlock, OneShardNeedsNoSecondBlock) {
  const Device device;
  const ParameterBlock block(device, some_parameters(), DType::float32, 1);
  EXPECT_EQ(block.gradients().data, block.shard_gradients().data);
}

/// Returns parameters of which two are matrices of products, which passes read with the type of activations.
std::vector<NamedParameter> mixed_parameters() {
  auto parameters = some_parameters();
  parameters[0].spec.element = Element::activation;  // head.weight
  parameters.push_back({"head.mix", {"mix", {3, 11}, Initializer::xavier_uniform}});
  parameters.back().spec.element = Element::activation;
  return parameters;
}

TEST(ParameterBlock, OptimizersSeeFloat32AlsoWithBfloat16Activations) {
  const Device device;
  ParameterBlock block(device, mixed_parameters(), DType::bfloat16, 2);
  block.make_states({"first"});
  EXPECT_EQ(block.dtype(), DType::float32);
  const Blocks blocks = block.blocks(nullptr);
  for (const Tensor& seen : {blocks.values, blocks.gradients, blocks.states[0], block.shard_gradients()})
    EXPECT_EQ(seen.dtype, DType::float32);
}

TEST(ParameterBlock, PassesSeeRoundedCopiesOfWhatMultiplies) {
  const Device device;
  ParameterBlock block(device, mixed_parameters(), DType::bfloat16, 1);
  kernels::fill(device, 1.00390625 + 0.001953125, block.values());  // rounded to bfloat16: 1 + 1/128
  block.values_changed();
  block.refresh_copies();
  device.fence();
  for (const char* path : {"head.weight", "head.mix"}) {
    const Tensor seen = block.seen_by_passes(block.find(path), Element::activation);
    EXPECT_EQ(seen.dtype, DType::bfloat16);
    EXPECT_EQ(seen.extent(1), block.find(path).spec.shape[1]);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(seen.data) % tensor_alignment, 0u) << path;
    std::vector<bfloat16> copies(static_cast<std::size_t>(seen.size()));
    copy_to_host(device, seen, copies.data());
    for (const bfloat16 copy : copies) ASSERT_EQ(static_cast<float>(copy), 1.0078125F) << path;
  }
  for (const char* path : {"embedding.tokens", "encoder.0.norm.gain"}) {
    const ParameterSlice& slice = block.find(path);
    EXPECT_EQ(block.seen_by_passes(slice, Element::activation).data,
              ParameterBlock::slice(block.values(), slice).data)
        << path;
    EXPECT_EQ(block.seen_by_passes(slice, Element::activation).dtype, DType::float32) << path;
  }
}

TEST(ParameterBlock, CopiesAreMadeOncePerChange) {
  const Device device;
  ParameterBlock block(device, mixed_parameters(), DType::bfloat16, 1);
  const auto first = [&] {
    bfloat16 value;
    copy_to_host(
        device,
        Tensor(block.seen_by_passes(block.find("head.mix"), Element::activation).data, DType::bfloat16, {1}),
        &value);
    return static_cast<float>(value);
  };
  block.refresh_copies();
  kernels::fill(device, 2.0, block.values());
  block.refresh_copies();
  EXPECT_EQ(first(), 0.0F) << "no call reported changed values";
  block.blocks(nullptr);  // marks the values as changed, because an optimizer's update follows
  kernels::fill(device, 3.0, block.values());
  block.refresh_copies();
  EXPECT_EQ(first(), 3.0F);
}

TEST(ParameterBlock, WiderPrecisionsNeedNoCopies) {
  const Device device;
  for (const DType type : {DType::float32, DType::float64}) {
    const ParameterBlock block(device, mixed_parameters(), type, 1);
    for (const ParameterSlice& slice : block.slices())
      EXPECT_EQ(block.seen_by_passes(slice, Element::activation).data,
                ParameterBlock::slice(block.values(), slice).data);
  }
}

TEST(ParameterBlock, RefusesTwoOfOneName) {
  const Device device;
  auto parameters = some_parameters();
  parameters.push_back(parameters.front());
  try {
    ParameterBlock(device, parameters, DType::float32, 1);
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("two parameters are called \"head.weight\""), std::string::npos);
  }
}

TEST(ParameterBlock, RefusesUnknownPathsAndTypes) {
  const Device device;
  const ParameterBlock block(device, some_parameters(), DType::float32, 1);
  EXPECT_THROW(block.find("head.wieght"), std::logic_error);
  EXPECT_THROW(ParameterBlock(device, some_parameters(), DType::int32, 1), std::logic_error);
}

}  // namespace
}  // namespace encore::memory
