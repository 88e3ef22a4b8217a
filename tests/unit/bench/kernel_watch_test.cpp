// SPDX-License-Identifier: BSD-3-Clause
// Tests the parts of `exp bench` that measure kernels and the machine: KernelWatch (counts kernels by label
// and products by shape, and restores a profiling tool that was there before), the label of a product, which
// is parsed again, the free gemm without a fixed order, and MachineBench. The labels and names of quantities
// are stored in measurements.
#include "bench/kernel_watch.hpp"

#include <gtest/gtest.h>

#include <encore/kernels.hpp>
#include <encore/space.hpp>
#include <nlohmann/json.hpp>

#include "bench/machine.hpp"
#include "bench/peaks.hpp"
#include "kernels/products/gemm.hpp"
#include "kernels/products/product_label.hpp"
#include "memory/device_memory.hpp"

namespace encore::bench {
namespace {

/// Counts the kernels of which a profiling tool is notified that was there before the watch.
int heard = 0;
void on_kernel(const char*, const std::uint32_t, std::uint64_t*) {
  ++heard;
}

/// Three buffers on the device, filled with different numbers: two operands and a result.
struct Matrices {
  explicit Matrices(const Device& used) : device(used), memory("encore::test", 3 * 64 * 64 * sizeof(float)) {
    fill_varied(device, DType::float32, memory.data(), 3 * 64 * 64);
  }
  /// Returns a tensor of this shape at the begin of buffer i.
  Tensor at(int i, std::int64_t rows, std::int64_t columns) const {
    return {memory.data() + static_cast<std::size_t>(i) * 64 * 64 * sizeof(float),
            DType::float32,
            {rows, columns}};
  }
  void multiply() const {  // (5, 3) = (5, 7) (3, 7)^T
    kernels::gemm(device, at(0, 5, 7), kernels::Transpose::no, at(1, 3, 7), kernels::Transpose::yes,
                  at(2, 5, 3));
  }
  const Device& device;
  memory::DeviceBuffer memory;
};

TEST(KernelWatch, KernelsCountByLabelAndProductsByShape) {
  const Device device;
  const Matrices matrices(device);
  const KernelWatch watch(device);
  matrices.multiply();
  matrices.multiply();
  kernels::add(device, matrices.at(0, 5, 7), matrices.at(1, 5, 7));
  ASSERT_EQ(watch.kernels().size(), 2u);
  EXPECT_EQ(watch.kernels().at("encore::gemm 5x3x7 nt float32 float32").calls, 2);
  EXPECT_GT(watch.kernels().at("encore::gemm 5x3x7 nt float32 float32").seconds, 0.0);
  EXPECT_EQ(watch.kernels().at("encore::add").calls, 1);
}

TEST(KernelWatch, AllocationsAreCounted) {
  const Device device;
  const KernelWatch watch(device);
  EXPECT_EQ(watch.allocations(), 0);
  const memory::DeviceBuffer buffer("encore::test", 4096);
  EXPECT_EQ(watch.allocations(), 1);
  EXPECT_GE(watch.allocated_bytes(), 4096);
}

TEST(KernelWatch, AToolThatListenedListensAgain) {
  const Device device;
  const Matrices matrices(device);
  const auto before = Kokkos::Tools::Experimental::get_callbacks();
  Kokkos::Tools::Experimental::set_begin_parallel_for_callback(on_kernel);
  heard = 0;
  {
    const KernelWatch watch(device);
    kernels::add(device, matrices.at(0, 5, 7), matrices.at(1, 5, 7));
    EXPECT_EQ(heard, 0) << "one watcher at a time";
  }
  kernels::add(device, matrices.at(0, 5, 7), matrices.at(1, 5, 7));
  EXPECT_GT(heard, 0);
  Kokkos::Tools::Experimental::set_callbacks(before);
}

TEST(ProductLabel, IsReadBack) {
  kernels::Product product;
  const Tensor none;
  product.a = Tensor(nullptr, DType::bfloat16, {9, 4});
  product.b = Tensor(nullptr, DType::bfloat16, {9, 6});
  product.c = Tensor(nullptr, DType::float32, {4, 6});
  product.transpose_a = true;
  EXPECT_EQ(kernels::product_label(product), "encore::gemm 4x6x9 tn bfloat16 float32");
  const auto shape = kernels::parse_product_label(kernels::product_label(product));
  ASSERT_TRUE(shape.has_value());
  EXPECT_EQ(shape->flops(), 2.0 * 4 * 6 * 9);
  EXPECT_EQ(shape->bytes(), 2.0 * 9 * 4 + 2.0 * 9 * 6 + 4.0 * 4 * 6);
  for (const char* other : {"encore::gemm", "encore::gemm_pack", "encore::gemm 4x6 nn",
                            "encore::gemm 4x6x9 nn int32 float32", "theirs::gemm 4x6x9 nn float32 float32"})
    EXPECT_FALSE(kernels::parse_product_label(other).has_value()) << other;
}

TEST(FreeGemm, GivesWhatTheFixedOrderGives) {
  const Device device;
  const Matrices matrices(device);
  const auto library = kernels::make_free_gemm();
  for (const bool transpose : {false, true}) {
    const Tensor a = matrices.at(0, 17, 31);
    const Tensor b = transpose ? matrices.at(1, 13, 31) : matrices.at(1, 31, 13);
    const Tensor c = matrices.at(2, 17, 13);
    std::vector<float> fixed(17 * 13), free(17 * 13);
    device.gemm().multiply(device, {a, b, c, false, transpose});
    memory::copy_to_host(device, c, fixed.data());
    library->multiply(device, {a, b, c, false, transpose});
    memory::copy_to_host(device, c, free.data());
    for (std::size_t i = 0; i < fixed.size(); ++i) EXPECT_NEAR(fixed[i], free[i], 1e-5) << i;
  }
}

TEST(Machine, AWrongPrecisionIsRefused) {
  EXPECT_EQ(type_of_precision("bfloat16"), DType::bfloat16);
  try {
    type_of_precision("float23");
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(),
                 "unknown precision \"float23\"; there are float32, bfloat16, float16 and float64");
  }
}

TEST(Machine, EveryQuantityIsThereAndItsWorkToo) {
  const Device device;
  MachineBench machine(device, {"float32"}, {32, 64});
  const record::Samples samples = machine.measure();
  for (const char* quantity :
       {"copy", "triad", "launch", "launch_and_wait", "calibration", "gemm 32 float32", "gemm 64 float32"})
    EXPECT_GT(samples.at(quantity), 0.0) << quantity;
  const auto facts = machine.facts();
  EXPECT_EQ(facts.at("gemm 64 float32").at("flops"), 2.0 * 64 * 64 * 64);
  for (const RegisterLoop& loop : register_loops()) {
    const std::string quantity = "peak " + loop.precision;
    EXPECT_GT(samples.at(quantity), 0.0) << quantity;
    EXPECT_GT(facts.at(quantity).at("flops").get<double>(), 0.0) << quantity;
    EXPECT_EQ(facts.at(quantity).at("instructions"), loop.instructions);
  }
  for (const MemoryLevel& level : memory_levels(host_threads()))
    EXPECT_GT(samples.at("read " + level.name), 0.0) << level.name;
}

TEST(Machine, ALoopDoesEachOfItsTurns) {
  for (const RegisterLoop& loop : register_loops()) {
    float few = 0.0F, many = 0.0F;
    loop.run(100'000, &few);
    loop.run(200'000, &many);
    EXPECT_NE(few, 0.0F) << loop.precision;
    EXPECT_NE(few, many) << loop.precision << ": the sums do not depend on the turns";
  }
}

}  // namespace
}  // namespace encore::bench
