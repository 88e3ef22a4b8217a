// SPDX-License-Identifier: BSD-3-Clause
// Tests that training may skip the rows of an embedding table that have no gradient in a step
// (memory/parameter_block.hpp and the optimizers): values, states, gradients and norms equal, bit for bit,
// those of a training that reads and updates all rows, with every shipped optimizer, after a resume, and with
// 1, 2 and 3 threads. The comparison can fail: a skipped row that has a gradient is noticed.
#include <gtest/gtest.h>

#include <cstring>
#include <limits>

#include <encore/kernels.hpp>

#include "base/sha256.hpp"
#include "kernels/products/gemm.hpp"
#include "support/child_threads.hpp"
#include "support/tiny_model.hpp"

namespace encore::model {
namespace {

using namespace encore::testing;
using Bytes = std::vector<std::byte>;

constexpr std::int32_t vocabulary = 200;
constexpr std::int64_t late_token = 150;  // comes in steps 3 and 7 only

/// Draws tokens from a moving window, so that rows rest for some steps; the upper ones never come.
data::PackedBatch batch_of_step(std::int64_t step) {
  data::PackedBatch batch = make_batch({20, 1, 9, 14}, 30, 5, static_cast<std::uint64_t>(step));
  for (std::int32_t& id : batch.ids) id += static_cast<std::int32_t>(step % 4) * 15;
  if (step == 3 || step == 7) batch.ids[5] = late_token;
  return batch;
}

struct Case {
  std::string optimizer;
  Changes settings;
  std::int64_t width = 256;  ///< a row fills a chunk of the optimizer; with 64, four rows do
  config::Precision precision = config::Precision::float32;
  std::int64_t shards = 1;
  double odd_scale = 0.5;  ///< the factor on the loss in step 5
  std::int64_t embedding_width = 0;
};

std::vector<Case> cases() {
  const double none = 0.0, not_a_number = std::numeric_limits<double>::quiet_NaN(),
               infinite = std::numeric_limits<double>::infinity();
  return {
      {.optimizer = "adam", .settings = {}},
      {.optimizer = "adam", .settings = {{"weight_decay", 0.1}}},
      {.optimizer = "adam", .settings = {{"beta1", none}}, .width = 64},
      {.optimizer = "adam", .settings = {}, .precision = config::Precision::float64, .shards = 2},
      {.optimizer = "adam", .settings = {}, .precision = config::Precision::bfloat16},
      {.optimizer = "adam", .settings = {}, .shards = 2, .embedding_width = 64},
      {.optimizer = "adam", .settings = {}, .precision = config::Precision::bfloat16, .embedding_width = 256},
      {.optimizer = "adam", .settings = {}, .odd_scale = not_a_number},
      {.optimizer = "adam", .settings = {}, .odd_scale = infinite},
      {.optimizer = "adam", .settings = {}, .odd_scale = none},
      {.optimizer = "adam", .settings = {}, .odd_scale = -2.0},
      {.optimizer = "adam", .settings = {{"epsilon", 1e-60}}},
      {.optimizer = "adamw", .settings = {{"weight_decay", none}}, .shards = 2},
      {.optimizer = "adamw", .settings = {{"weight_decay", 0.1}}},
      {.optimizer = "adamw", .settings = {{"weight_decay", 300.0}}, .width = 64, .shards = 3},
      {.optimizer = "adamw", .settings = {}, .odd_scale = not_a_number},
      {.optimizer = "sgd", .settings = {}},
      {.optimizer = "sgd", .settings = {{"momentum", none}}},
      {.optimizer = "sgd", .settings = {{"momentum", none}, {"weight_decay", 0.1}}},
      {.optimizer = "sgd", .settings = {{"nesterov", true}}, .precision = config::Precision::float64},
      {.optimizer = "sgd", .settings = {{"nesterov", true}, {"weight_decay", 0.1}}, .width = 64},
      {.optimizer = "sgd", .settings = {}, .shards = 2, .odd_scale = not_a_number},
      {.optimizer = "sgd", .settings = {}, .odd_scale = infinite},
      {.optimizer = "sgd", .settings = {}, .odd_scale = -2.0},
      {.optimizer = "lamb", .settings = {}},
      {.optimizer = "lamb", .settings = {{"weight_decay", none}}},
      {.optimizer = "lamb", .settings = {{"weight_decay", none}}, .width = 64, .shards = 2},
      {.optimizer = "lamb", .settings = {{"weight_decay", none}}, .precision = config::Precision::float64},
      {.optimizer = "lamb", .settings = {{"weight_decay", none}}, .odd_scale = not_a_number},
      {.optimizer = "lamb", .settings = {}, .odd_scale = infinite},
      {.optimizer = "lamb", .settings = {{"max_trust_ratio", 0.5}}, .odd_scale = -2.0}};
}

std::string name_of(const Case& used) {
  std::string name = used.optimizer;
  for (const auto& [option, value] : used.settings)
    name += " " + option + "=" +
            (std::holds_alternative<double>(value) ? std::to_string(std::get<double>(value)) : "true");
  return name + " width=" + std::to_string(used.width) + " shards=" + std::to_string(used.shards) +
         " precision=" + std::to_string(static_cast<int>(used.precision)) +
         " scale=" + std::to_string(used.odd_scale) +
         " embedding_width=" + std::to_string(used.embedding_width);
}

Bytes bytes_of(const Device& device, Tensor tensor) {
  Bytes bytes(tensor.bytes());
  memory::copy_to_host(device, tensor, bytes.data());
  return bytes;
}

/// A model and its optimizer, step by step. With `dense`, gradients of all rows are zeroed, summed and read,
/// so nothing is skipped.
class Training {
 public:
  Training(const Device& device, const plugin_host::Registry& registry, const Case& used, bool dense)
      : device_(device),
        used_(used),
        dense_(dense),
        model_(experiment(registry, used), size_with(vocabulary), registry, device),
        batch_(device, {{64, 8, 64 * 64, 64}}, model_.needs(), used.shards),
        numbers_("test::numbers", 2 * sizeof(double)) {
    model_.plan({{64, 8, 64 * 64, 64}}, {});
    model_.initialize(1);
    config::PluginTable table;
    fill_table(table, registry, Kind::optimizer, "optimizer", used.optimizer, used.settings);
    optimizer_ = registry.make_optimizer(table.type, table.options);
    model_.parameters().make_states(optimizer_->states());
  }

  void gradient(std::int64_t step) {
    const data::PackedBatch packed = batch_of_step(step);
    batch_.upload(packed);
    if (dense_) kernels::fill(device_, 0.0, model_.parameters().gradients());
    model_.forward_backward(batch_, batch_.scales(), {1, static_cast<std::uint64_t>(step)});
    if (dense_)
      kernels::sum_of_squares(device_, blocks(), squares());
    else
      model_.parameters().sum_gradient_squares(squares());
  }
  void update(std::int64_t step) {
    const double scale = step == 5 ? used_.odd_scale : 0.75;
    memory::copy_from_host(device_, &scale, Tensor(squares() + 1, DType::float64, {1}));
    optimizer_->update(device_, blocks(), 0.01, step);
    device_.fence();
  }
  void step(std::int64_t number) {
    gradient(number);
    update(number);
  }
  /// Returns the bytes of values, gradients and each state, and the sum of squares.
  std::vector<Bytes> everything() {
    std::vector<Bytes> all = {bytes_of(device_, model_.parameters().values()),
                              bytes_of(device_, model_.parameters().gradients())};
    for (std::size_t i = 0; i < optimizer_->states().size(); ++i)
      all.push_back(bytes_of(device_, model_.parameters().state(i)));
    all.push_back(bytes_of(device_, Tensor(squares(), DType::float64, {1})));
    return all;
  }
  /// Takes values and states from another run, as from a checkpoint.
  void resume(Training& other) {
    kernels::copy(device_, other.model_.parameters().values(), model_.parameters().values());
    for (std::size_t i = 0; i < optimizer_->states().size(); ++i)
      kernels::copy(device_, other.model_.parameters().state(i), model_.parameters().state(i));
    device_.fence();
    model_.parameters().values_changed();
    model_.parameters().states_changed();
  }
  std::vector<ChunkGradient> known() {
    const Blocks all = model_.parameters().blocks(nullptr);
    std::vector<ChunkGradient> list(static_cast<std::size_t>((all.chunk_count + 3) / 4 * 4));
    memory::copy_to_host(device_, bytes_tensor(all, list), list.data());
    return list;
  }
  void set_known(const std::vector<ChunkGradient>& list) {
    const Blocks all = model_.parameters().blocks(nullptr);
    memory::copy_from_host(device_, list.data(), bytes_tensor(all, list));
  }

 private:
  static config::Experiment experiment(const plugin_host::Registry& registry, const Case& used) {
    config::Experiment experiment = tiny_experiment(registry);
    experiment.data.max_length = 64;
    experiment.model.width = used.width;
    experiment.model.embedding_width = used.embedding_width;
    experiment.model.layers = 1;
    experiment.model.dropout = 0.1;
    experiment.train.precision = used.precision;
    experiment.train.gradient_shards = used.shards;
    return experiment;
  }
  static Tensor bytes_tensor(const Blocks& all, const std::vector<ChunkGradient>& list) {
    return Tensor(const_cast<ChunkGradient*>(all.chunk_gradients), DType::int32,
                  {static_cast<std::int64_t>(list.size()) / 4});
  }
  double* squares() const { return reinterpret_cast<double*>(numbers_.data()); }
  Blocks blocks() {
    Blocks result = model_.parameters().blocks(squares() + 1);
    if (dense_) result.chunk_gradients = nullptr;
    return result;
  }

  const Device& device_;
  Case used_;
  bool dense_;
  Model model_;
  DeviceBatch batch_;
  memory::DeviceBuffer numbers_;
  std::unique_ptr<Optimizer> optimizer_;
};

struct TokenRows : ::testing::Test {
  bool multiplies(config::Precision precision) const {
    return precision != config::Precision::bfloat16 || device.gemm().multiplies(DType::bfloat16);
  }
  Device device;
  plugin_host::Registry registry = load_builtin_plugins();
};

TEST_F(TokenRows, ThatAreSkippedHaveTheBitsOfAFullUpdate) {
  for (const Case& used : cases()) {
    if (!multiplies(used.precision)) continue;
    SCOPED_TRACE(name_of(used));
    Training sparse(device, registry, used, false), dense(device, registry, used, true);
    for (std::int64_t step = 1; step <= 8; ++step) {
      sparse.step(step);
      dense.step(step);
      ASSERT_EQ(sparse.everything(), dense.everything()) << "step " << step;
    }
    const std::vector<ChunkGradient> known = sparse.known();
    for (const ChunkGradient each : {ChunkGradient::never, ChunkGradient::absent, ChunkGradient::present})
      EXPECT_GT(std::count(known.begin(), known.end(), each), 0) << "all three kinds have occurred";
  }
}

TEST_F(TokenRows, AreTheSameAfterAResume) {
  for (const Case& used : cases()) {
    if (!multiplies(used.precision)) continue;
    SCOPED_TRACE(name_of(used));
    Training unbroken(device, registry, used, false), resumed(device, registry, used, false);
    for (std::int64_t step = 1; step <= 6; ++step) unbroken.step(step);
    resumed.resume(unbroken);
    for (std::int64_t step = 7; step <= 9; ++step) {
      unbroken.step(step);
      resumed.step(step);
      ASSERT_EQ(resumed.everything(), unbroken.everything()) << "step " << step;
    }
  }
}

TEST_F(TokenRows, AreAsCheapAfterAResume) {
  const Case used{.optimizer = "adam", .settings = {}};
  Training unbroken(device, registry, used, false), resumed(device, registry, used, false);
  for (std::int64_t step = 1; step <= 6; ++step) unbroken.step(step);
  resumed.resume(unbroken);
  resumed.step(7);
  unbroken.step(7);
  EXPECT_EQ(resumed.known(), unbroken.known());
}

/// A step that marks too few rows: the comparison above must notice it.
TEST_F(TokenRows, WithAGradientThatAreSkippedAreNoticed) {
  for (const ChunkGradient wrong : {ChunkGradient::absent, ChunkGradient::never}) {
    const Case used{.optimizer = "adam", .settings = {}};
    Training sparse(device, registry, used, false), dense(device, registry, used, true);
    for (Training* run : {&sparse, &dense}) run->gradient(3);
    std::vector<ChunkGradient> known = sparse.known();
    ASSERT_EQ(known[late_token], ChunkGradient::present) << "the table of tokens comes first";
    known[late_token] = wrong;
    sparse.set_known(known);
    for (Training* run : {&sparse, &dense}) run->update(3);
    EXPECT_NE(sparse.everything(), dense.everything());
  }
}

/// Runs in the child: prints the values that the parent compares.
TEST_F(TokenRows, DISABLED_Child) {
  Sha256 hash;
  for (const Case& used : cases()) {
    if (!multiplies(used.precision)) continue;
    Training run(device, registry, used, false);
    for (std::int64_t step = 1; step <= 8; ++step) run.step(step);
    for (const Bytes& bytes : run.everything()) hash.add(std::span<const std::byte>(bytes));
  }
  print_digest(hash.hex());
}

TEST_F(TokenRows, GiveEqualBitsWithOneTwoAndThreeThreads) {
  if (std::string(ENCORE_BACKEND_NAME) != "openmp") GTEST_SKIP() << "threads of the host only";
  const auto child = [](int threads) {
    return digest_of_child("model_test", "TokenRows.DISABLED_Child", threads);
  };
  const std::string one = child(1);
  EXPECT_EQ(child(2), one);
  EXPECT_EQ(child(3), one);
}

}  // namespace
}  // namespace encore::model
