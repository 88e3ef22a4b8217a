// SPDX-License-Identifier: BSD-3-Clause
// Tests that a training step (Model, model/model.hpp) of a shape that was seen before, and later passes of a
// Generation, allocate nothing that grows with the batch or the model, and make no oneDNN primitive; this
// must hold for every new layer. Every heap allocation of the process goes through hooks
// (support/counted_allocations.hpp), also those of libraries; Kokkos memory is counted too. Small allocations
// remain: names of kernels and arguments of oneDNN's calls, a few words each. This is a program of its own,
// because the hooks replace malloc.
#include <gtest/gtest.h>

#include <encore/kernels.hpp>
#include <encore/space.hpp>

#include "kernels/products/gemm.hpp"
#include "support/counted_allocations.hpp"
#include "support/growing_texts.hpp"

namespace encore::model {
namespace {

using namespace encore::testing;

struct Allocation : ::testing::TestWithParam<config::Precision> {
  void SetUp() override {
    if (GetParam() == config::Precision::bfloat16 && !device.gemm().multiplies(DType::bfloat16))
      GTEST_SKIP() << "no bfloat16 products on this backend";
  }
  bool has_onednn() const { return device.gemm().name().starts_with("oneDNN"); }
  /// Returns whether oneDNN takes memory of its own for a product that is prepared, as it does without
  /// AVX-512.
  bool product_takes_memory() const {
    const DType type = GetParam() == config::Precision::bfloat16 ? DType::bfloat16 : DType::float32;
    const memory::DeviceBuffer memory("operands", 3 * 64 * 64 * 4);
    const auto operand = [&](std::size_t number) {
      return Tensor(memory.data() + number * 64 * 64 * 4, type, {64, 64});
    };
    long before = 0;
    for (int repeat = 0; repeat < 3; ++repeat) {
      before = large_allocations;
      kernels::gemm(device, operand(0), kernels::Transpose::no, operand(1), kernels::Transpose::no,
                    operand(2));
    }
    device.fence();
    return large_allocations > before;
  }
  /// Returns whether the runtime of OpenMP takes memory for every kernel, as libgomp does for a team of one
  /// thread.
  bool launch_takes_memory() const {
    const memory::DeviceBuffer memory("values", 64 * 4);
    long before = 0;
    for (int repeat = 0; repeat < 3; ++repeat) {
      before = large_allocations;
      kernels::fill(device, 1.0, Tensor(memory.data(), DType::float32, {64}));
    }
    device.fence();
    return large_allocations > before;
  }
  Device device;
  plugin_host::Registry registry = load_builtin_plugins();
};

TEST_P(Allocation, AStepOfAShapeSeenBeforeTakesNoMemoryAndMakesNoPrimitive) {
  config::Experiment experiment = tiny_experiment(registry);
  experiment.model.width = 64;
  experiment.model.dropout = 0.1;
  experiment.data.max_length = 64;
  experiment.model.block[0].options.set("heads", std::int64_t{4});
  experiment.model.block[0].options.set("attention_dropout", 0.1);
  experiment.model.block[1].options.set("hidden", std::int64_t{96});
  experiment.model.block[1].options.set("activation", std::string("silu"));
  for (const char* type : {"linear_attention", "sparse_attention", "disentangled_attention"})
    experiment.model.block.push_back(layer_table(registry, type, type));
  experiment.model.embedding_width = 32;
  experiment.train.precision = GetParam();
  experiment.train.gradient_shards = 2;
  const data::PackedBatch packed = make_batch({64, 33, 1, 50, 64, 17, 64, 40}, 300, 5, 1);
  TinyModel tiny(experiment, size_with(300), registry, device, packed);
  tiny.model.initialize(1);
  const auto optimizer =
      registry.make_optimizer("adam", defaults(registry.offer(Kind::optimizer, "adam").options));
  tiny.model.parameters().make_states(optimizer->states());
  Blocks blocks = tiny.model.parameters().blocks(nullptr);
  const auto step = [&](std::int64_t number) {
    tiny.model.forward_backward(tiny.batch, tiny.batch.scales(), {1, static_cast<std::uint64_t>(number)});
    optimizer->update(device, blocks, 0.01, number);
    tiny.model.parameters().values_changed();
    tiny.model.evaluate(tiny.batch, {});
    device.fence();
  };
  for (std::int64_t number = 1; number <= 2; ++number) step(number);

  Kokkos::Tools::Experimental::set_allocate_data_callback(count_kokkos_allocation);
  kokkos_allocations = 0;
  const std::int64_t made = device.gemm().prepared();
  const long before = large_allocations, before_all = allocations;
  for (std::int64_t number = 3; number <= 6; ++number) step(number);
  const long taken = large_allocations - before, taken_all = allocations - before_all;
  const int kokkos = kokkos_allocations;
  { const memory::DeviceBuffer proof("the hooks count", 4096); }
  Kokkos::Tools::Experimental::set_allocate_data_callback(nullptr);

  const std::int64_t made_by_steps = device.gemm().prepared();
  const bool library_takes = product_takes_memory();
  if (!library_takes) {
    EXPECT_EQ(taken, 0) << "blocks of " << large << " bytes or more";
  }
  EXPECT_EQ(kokkos, 0);
  EXPECT_EQ(made_by_steps, made);
  EXPECT_GT(kokkos_allocations, 0);
  if (std::string(ENCORE_BACKEND_NAME) == "openmp") {
    EXPECT_GT(large_allocations - before, 0);
    // Tiles of our own have nothing to prepare; oneDNN's products of float32 always have.
    if (GetParam() == config::Precision::float32 && has_onednn()) {
      EXPECT_GT(device.gemm().prepared(), 0);
    }
  }
  RecordProperty("small_allocations_of_four_steps", static_cast<int>(taken_all));
  if (library_takes)
    GTEST_SKIP() << "oneDNN takes heap memory itself on this processor; the rest was checked";
}

/// For the second batch of a shape, neither the first pass nor the passes of one row each take memory.
TEST_P(Allocation, PassesOfAGenerationTakeNoMemoryAndMakeNoPrimitive) {
  config::Experiment experiment = tiny_experiment(registry);
  experiment.model.width = 64;
  experiment.model.causal = true;
  experiment.data.max_length = 64;
  experiment.train.precision = GetParam();
  const data::PackedBatch packed = make_batch({40, 33, 1, 64}, 300, 5, 1);
  TinyModel tiny(experiment, size_with(300), registry, device, packed);
  tiny.model.initialize(1);
  const auto generation = tiny.model.make_generation(packed.size(), 64);
  std::vector<data::PackedBatch> passes;
  const Lengths all = lengths_of(packed);
  Lengths done(4, 0);
  while (done != all) {
    Lengths counts;
    for (std::size_t s = 0; s < 4; ++s)
      counts.push_back(std::min<std::int64_t>(all[s] - done[s], passes.empty() ? 20 : 1));
    passes.push_back(pass_over(packed, done, counts, passes.empty()));
    for (std::size_t s = 0; s < 4; ++s) done[s] += counts[s];
  }
  const auto generate = [&] {
    generation->begin(passes[0]);
    for (std::size_t i = 1; i < passes.size(); ++i) generation->next(passes[i]);
    device.fence();
  };
  generate();
  Kokkos::Tools::Experimental::set_allocate_data_callback(count_kokkos_allocation);
  kokkos_allocations = 0;
  const std::int64_t made = device.gemm().prepared();
  const long before = large_allocations;
  generate();
  const long taken = large_allocations - before;
  Kokkos::Tools::Experimental::set_allocate_data_callback(nullptr);
  EXPECT_EQ(kokkos_allocations, 0);
  EXPECT_EQ(device.gemm().prepared(), made);
  if (launch_takes_memory())
    GTEST_SKIP()
        << "the runtime of OpenMP takes heap memory for every kernel of one thread; the rest was checked";
  EXPECT_EQ(taken, 0) << "blocks of " << large << " bytes or more";
}

TEST_P(Allocation, ANewShapeIsSeenInTheCounter) {
  if (std::string(ENCORE_BACKEND_NAME) != "openmp") GTEST_SKIP() << "this test is about what oneDNN prepares";
  const DType type = GetParam() == config::Precision::bfloat16 ? DType::bfloat16 : DType::float32;
  memory::DeviceBuffer memory("operands", 3 * 64 * 64 * 4);
  const auto operand = [&](std::size_t number, std::int64_t rows, std::int64_t columns) {
    return Tensor(memory.data() + number * 64 * 64 * 4, type, {rows, columns});
  };
  const auto multiply = [&](std::int64_t rows) {
    kernels::gemm(device, operand(0, rows, 32), kernels::Transpose::no, operand(1, 32, 48),
                  kernels::Transpose::no, operand(2, rows, 48));
    return device.gemm().prepared();
  };
  const std::int64_t first = multiply(7);
  if (first == 0 && (type == DType::bfloat16 || !has_onednn())) {
    EXPECT_EQ(multiply(9), 0);
    GTEST_SKIP() << "tiles of our own have nothing to prepare";
  }
  EXPECT_GT(first, 0);
  EXPECT_EQ(multiply(7), first);
  EXPECT_GT(multiply(9), first);
}

INSTANTIATE_TEST_SUITE_P(Precisions, Allocation,
                         ::testing::Values(config::Precision::float32, config::Precision::bfloat16),
                         [](const auto& info) {
                           return info.param == config::Precision::bfloat16 ? "bfloat16" : "float32";
                         });

}  // namespace
}  // namespace encore::model
