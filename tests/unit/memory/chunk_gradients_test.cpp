// SPDX-License-Identifier: BSD-3-Clause
// Tests memory/chunk_gradients.hpp: for each chunk of a table with one row per token, a byte says whether its
// gradient was never present, is absent (zero) or is present in this step. Kernels skip chunks without a
// gradient, so a wrong byte loses updates. Covers how tables are cut, the bytes through steps and shards, and
// optimizer states from a checkpoint.
#include "memory/chunk_gradients.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include <encore/kernels.hpp>

#include "contract/test_memory.hpp"
#include "memory/parameter_block.hpp"

namespace encore::memory {
namespace {

/// Returns a letter for each chunk: n for never, a for absent, p for present.
std::string letters(const Device& device, const Blocks& blocks) {
  std::string text(static_cast<std::size_t>((blocks.chunk_count + 3) / 4 * 4), '?');
  copy_to_host(device,
               Tensor(const_cast<ChunkGradient*>(blocks.chunk_gradients), DType::int32,
                      {static_cast<std::int64_t>(text.size()) / 4}),
               text.data());
  text.resize(static_cast<std::size_t>(blocks.chunk_count));
  for (char& letter : text) letter = "nap"[static_cast<int>(letter)];
  return text;
}

std::vector<Chunk> chunks_of(const Device& device, const Blocks& blocks) {
  std::vector<Chunk> chunks(static_cast<std::size_t>(blocks.chunk_count));
  const auto words = static_cast<std::int64_t>(chunks.size() * sizeof(Chunk) / 4);
  copy_to_host(device, Tensor(const_cast<Chunk*>(blocks.chunks), DType::int32, {words}), chunks.data());
  return chunks;
}

/// Returns a parameter with a row for each token.
NamedParameter table(const std::string& path, std::vector<std::int64_t> shape) {
  return {path, {.name = "tokens", .shape = std::move(shape), .token_rows = true}};
}
/// Returns an ordinary parameter, whose gradient is always present.
NamedParameter matrix(const std::string& path, std::int64_t size) {
  return {path, {.name = "weight", .shape = {size}}};
}

/// A batch of these tokens. Only `ids` and `order` (the rows sorted by token), which marking reads, are
/// filled.
struct Tokens {
  explicit Tokens(const std::vector<double>& numbers)
      : ids(DType::int32, {static_cast<std::int64_t>(numbers.size())}), order(ids) {
    ids.set(numbers);
    std::vector<double> rows(numbers.size());
    std::iota(rows.begin(), rows.end(), 0.0);
    std::stable_sort(rows.begin(), rows.end(), [&](double a, double b) {
      return numbers[static_cast<std::size_t>(a)] < numbers[static_cast<std::size_t>(b)];
    });
    order = contract::OwnedTensor(DType::int32, {static_cast<std::int64_t>(numbers.size())});
    order.set(rows);
    batch.size.tokens = static_cast<std::int64_t>(numbers.size());
    batch.ids = ids;
    batch.order = order;
  }
  contract::OwnedTensor ids, order;
  RowSet batch;
};

TEST(ChunkGradients, TablesAreCutByWholeRows) {
  const Device device;
  const auto sizes = [&](std::vector<std::int64_t> shape) {
    ParameterBlock block(device, {table("t", std::move(shape))}, DType::float32, 1);
    std::vector<std::int64_t> result;
    for (const Chunk& chunk : chunks_of(device, block.blocks(nullptr))) result.push_back(chunk.size);
    return result;
  };
  EXPECT_EQ(sizes({3, 384}), (std::vector<std::int64_t>{384, 384, 384}));
  EXPECT_EQ(sizes({9, 64}), (std::vector<std::int64_t>{256, 256, 64}));
  EXPECT_EQ(sizes({2, 10, 30}), (std::vector<std::int64_t>{300, 300}));
  EXPECT_EQ(sizes({300}), (std::vector<std::int64_t>{256, 44})) << "a number per token";
  EXPECT_EQ(sizes({2, 5000}), (std::vector<std::int64_t>{4096, 4096, 1808})) << "rows longer than a chunk";
  EXPECT_EQ(sizes({0, 8}), std::vector<std::int64_t>{});
}

TEST(ChunkGradients, RowsLongerThanAChunkAreAlwaysPresent) {
  const Device device;
  ParameterBlock block(device, {table("t", {2, 5000})}, DType::float32, 1);
  EXPECT_EQ(letters(device, block.blocks(nullptr)), "ppp");
}

TEST(ChunkGradients, RefusesTokenRowsWithoutRows) {
  const Device device;
  try {
    ParameterBlock(device, {table("layer.scale", {})}, DType::float32, 1);
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(std::string(error.what()),
              "parameter \"layer.scale\" has token_rows and no rows; give it the shape (vocabulary, ...)");
  }
}

/// Four parameters: "a" and "c" are ordinary (2 chunks and 1), "b" has five rows in a chunk each, "d" nine
/// rows in three chunks of at most four rows.
struct Steps {
  Steps(DType type = DType::float32, std::int64_t shards = 1)
      : block(device, {matrix("a", 5000), table("b", {5, 300}), matrix("c", 3), table("d", {9, 64})}, type,
              shards) {
    block.make_states({"first", "second"});
  }
  /// Returns the letters of all chunks, one word for each parameter.
  std::string known() {
    std::string text = letters(device, block.blocks(nullptr));
    for (const std::size_t end : {8u, 7u, 2u}) text.insert(end, " ");
    return text;
  }
  void step(const std::vector<double>& tokens) {
    block.zero_gradients();
    mark(tokens);
  }
  void mark(const std::vector<double>& tokens) {
    const Tokens list(tokens);
    block.mark_rows(list.batch);
    device.fence();
  }
  const Device device;
  ParameterBlock block;
};

TEST(ChunkGradients, FollowTheTokensOfEachStep) {
  Steps steps;
  EXPECT_EQ(steps.known(), "pp nnnnn p nnn");
  steps.step({3, 1, 3, 3});
  EXPECT_EQ(steps.known(), "pp npnpn p pnn");
  steps.step({8, 0});
  EXPECT_EQ(steps.known(), "pp panan p pnp");
  steps.step({});
  EXPECT_EQ(steps.known(), "pp aanan p ana");
  steps.step({2});
  EXPECT_EQ(steps.known(), "pp aapan p pna");
}

TEST(ChunkGradients, ShardsAreMarkedTogether) {
  Steps steps(DType::float32, 2);
  steps.step({1});
  steps.mark({4, 1});
  EXPECT_EQ(steps.known(), "pp npnnp p ppn");
}

TEST(ChunkGradients, TokensBeyondATableMarkNothing) {
  Steps steps;
  steps.step({4, 8, 16, 3000});
  EXPECT_EQ(steps.known(), "pp nnnnp p npp");
}

TEST(ChunkGradients, AreZeroedWhereTheyWerePresentAndOnlyThere) {
  for (const DType type : {DType::float32, DType::float64}) {
    Steps steps(type);
    steps.step({1});
    kernels::fill(steps.device, 2.0, steps.block.gradients());
    steps.block.zero_gradients();
    const std::string before = "ppnpnnnppnn";  // after step({1}); chunks that are not p keep the value 2
    const std::vector<Chunk> chunks = chunks_of(steps.device, steps.block.blocks(nullptr));
    contract::OwnedTensor all(type, {steps.block.gradients().size()});
    kernels::copy(steps.device, steps.block.gradients(), all);
    steps.device.fence();
    const std::vector<double> values = all.values();
    for (std::size_t c = 0; c < chunks.size(); ++c)
      for (std::int64_t i = 0; i < chunks[c].size; ++i)
        ASSERT_EQ(values[static_cast<std::size_t>(chunks[c].begin + i)], before[c] == 'p' ? 0.0 : 2.0) << c;
  }
}

TEST(ChunkGradients, StatesFromElsewhereSayWhichNeverHadOne) {
  for (const DType type : {DType::float32, DType::float64}) {
    Steps steps(type);
    steps.step({0});
    EXPECT_EQ(steps.known(), "pp pnnnn p pnn");
    const auto set = [&](std::size_t state, std::int64_t row, double value) {
      const Tensor whole = ParameterBlock::slice(steps.block.state(state), steps.block.find("b"));
      const Tensor one(
          static_cast<std::byte*>(whole.data) + static_cast<std::size_t>(row * 300 + 299) * size_of(type),
          type, {1});
      kernels::fill(steps.device, value, one);
    };
    set(0, 1, 1e-30);
    set(1, 3, -0.0);
    set(0, 0, 5.0);
    EXPECT_EQ(steps.known(), "pp pnnnn p pnn") << "no call reported changed states";
    steps.block.states_changed();
    EXPECT_EQ(steps.known(), "pp panan p pnn");
    set(0, 1, 0.0);
    steps.block.states_changed();
    EXPECT_EQ(steps.known(), "pp pnnan p pnn");
  }
}

TEST(ChunkGradients, AreNotReadForTheNormWhereAbsent) {
  for (const DType type : {DType::float32, DType::float64}) {
    Steps steps(type);
    contract::OwnedTensor squares(DType::float64, {2});
    double* results = static_cast<double*>(squares.tensor().data);
    kernels::fill(steps.device, 2.0, steps.block.gradients());
    steps.step({1});
    contract::OwnedTensor gradients(type, {steps.block.gradients().size()});
    std::vector<double> values = contract::normal_values(steps.block.gradients().size(), 3);
    const std::vector<Chunk> chunks = chunks_of(steps.device, steps.block.blocks(nullptr));
    const std::string known = letters(steps.device, steps.block.blocks(nullptr));
    std::vector<double> inside(values.size(), 0.0);
    for (std::size_t c = 0; c < chunks.size(); ++c)
      for (std::int64_t i = 0; known[c] == 'p' && i < chunks[c].size; ++i) {
        const auto at = static_cast<std::size_t>(chunks[c].begin + i);
        inside[at] = values[at];
      }
    gradients.set(values);
    kernels::copy(steps.device, gradients, steps.block.gradients());
    steps.block.sum_gradient_squares(results);
    gradients.set(inside);
    kernels::copy(steps.device, gradients, steps.block.gradients());
    Blocks dense = steps.block.blocks(nullptr);
    dense.chunk_gradients = nullptr;
    kernels::sum_of_squares(steps.device, dense, results + 1);
    steps.device.fence();
    double expected = 0.0;
    for (const double value : gradients.values()) expected += value * value;
    EXPECT_EQ(squares.values()[0], squares.values()[1]);
    EXPECT_NEAR(squares.values()[1], expected, 1e-12 * expected);
  }
}

TEST(ChunkGradients, ManyChunksHaveTheSameNormWithAndWithout) {
  const Device device;
  ParameterBlock block(device, {table("t", {5000, 256})}, DType::float32, 1);
  block.zero_gradients();
  const Tokens tokens({4999, 17, 0, 2048, 1023, 1024});
  block.mark_rows(tokens.batch);
  double expected = 0.0;
  for (const int row : {4999, 17, 0, 2048, 1023, 1024}) {
    const Tensor whole = block.gradients();
    kernels::fill(device, 0.5 + row,
                  Tensor(static_cast<float*>(whole.data) + row * 256, DType::float32, {256}));
    expected += 256.0 * (0.5 + row) * (0.5 + row);
  }
  contract::OwnedTensor squares(DType::float64, {2});
  double* results = static_cast<double*>(squares.tensor().data);
  block.sum_gradient_squares(results);
  Blocks dense = block.blocks(nullptr);
  dense.chunk_gradients = nullptr;
  kernels::sum_of_squares(device, dense, results + 1);
  device.fence();
  EXPECT_EQ(squares.values()[0], expected) << "all summands are exact";
  EXPECT_EQ(squares.values()[1], expected);
}

}  // namespace
}  // namespace encore::memory
