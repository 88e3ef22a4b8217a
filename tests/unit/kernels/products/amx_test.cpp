// SPDX-License-Identifier: BSD-3-Clause
// Tests matrix products by the tiles of AMX (framework/kernels/products/amx_product.hpp): the arithmetic of
// the instruction, and every product with every epilogue (what it does besides the sum), bit for bit against
// its definition. All of it runs with emulated tiles and with the machine code for real ones, which TileTrap
// executes if the processor has none. On a processor with AMX the instruction is compared with the emulation.
// The definition of a sum must not change, because bits of runs depend on it.
#include <random>

#include <encore/rows.hpp>

#include "kernels/products/amx_tiles.hpp"
#include "kernels/products/bfloat16_tile.hpp"
#include "kernels/products/gemm.hpp"
#include "unit/kernels/kernel_test.hpp"
#include "unit/kernels/products/tile_trap.hpp"

namespace encore::test {
namespace {

#if ENCORE_HOST_BACKEND

using kernels::Activation;
using kernels::amx::arithmetic::add;
using kernels::amx::arithmetic::multiply_add;

TEST(TileArithmetic, DenormalNumbersAreZeroAndKeepTheirSign) {
  constexpr float least = kernels::amx::arithmetic::least_normal;
  EXPECT_EQ(kernels::amx::arithmetic::from_bfloat16(0x007F), 0.0F);
  EXPECT_TRUE(std::signbit(kernels::amx::arithmetic::from_bfloat16(0x8001)));
  EXPECT_EQ(kernels::amx::arithmetic::multiply_add(0x1p-100F, 0x1p-30F, 0.0F), 0.0F);
  EXPECT_TRUE(std::signbit(kernels::amx::arithmetic::multiply_add(-0x1p-100F, 0x1p-30F, 0.0F)));
  EXPECT_EQ(kernels::amx::arithmetic::multiply_add(-1.0F, least, 1.5F * least), 0.0F)
      << "an exact difference that is denormal";
  EXPECT_EQ(add(0x1p-127F, 0x1p-127F), 0.0F) << "each is zero before they are added";
  EXPECT_EQ(add(1.5F * least, -least), 0.0F);
  EXPECT_EQ(add(least, least), 2.0F * least);
}

TEST(TileArithmetic, WhatIsRoundedUpToTheLeastNormalNumberStaysOnlyIf24BitsRoundUp) {
  constexpr float least = kernels::amx::arithmetic::least_normal;
  EXPECT_EQ(kernels::amx::arithmetic::multiply_add(-0x1p-100F, 0x1p-51F, least), least) << "a tie, to even";
  EXPECT_EQ(kernels::amx::arithmetic::multiply_add(-0x1p-100F, 0x1.02p-51F, least), 0.0F);
  EXPECT_EQ(kernels::amx::arithmetic::multiply_add(-0x1p-100F, 0x1p-50F, least), 0.0F)
      << "24 bits hold it exactly, and it is denormal";
}

/// One TDPBF16PS instruction: sums over even and over odd elements are separate, and their sum is added to
/// the tile.
TEST(TileArithmetic, EvenAndOddElementsAreSummedApartAndBeforeTheyMeetTheTile) {
  kernels::amx::EmulatedTiles tiles;
  const auto bits = [](float x) {
    return static_cast<std::uint16_t>(__builtin_bit_cast(std::uint32_t, x) >> 16);
  };
  std::array<std::uint16_t, 512> a = {}, b = {};
  // Row 0 of a is 2^30, 1, -2^30, 1, then zeros; column 0 of b has ones.
  const std::array<float, 4> row = {0x1p30F, 1.0F, -0x1p30F, 1.0F};
  for (std::size_t k = 0; k < row.size(); ++k) a[k] = bits(row[k]);
  for (std::size_t l = 0; l < 16; ++l) b[32 * l] = b[32 * l + 1] = bits(1.0F);
  std::array<float, 256> c = {0x1p25F};
  const auto once = [&] {
    tiles.configure();
    tiles.load<0>(c.data(), 64);
    tiles.load<1>(a.data(), 64);
    tiles.load<2>(b.data(), 64);
    tiles.multiply_pairs<0, 1, 2>();
    tiles.store<0>(c.data(), 64);
  };
  once();
  EXPECT_EQ(c[0], 0x1p25F) << "2 is half of the last place of 2^25, and is added as 2";
  c[0] = 0.0F;
  once();
  EXPECT_EQ(c[0], 2.0F) << "in order 2^30 + 1 - 2^30 + 1 would be 1";
}

#if ENCORE_HAVE_BFLOAT16_PAIRS

struct Case {
  std::int64_t rows, columns, inner;
};
const std::vector<Case> cases = {{1, 1, 1},     {2, 16, 2},     {17, 33, 31}, {16, 32, 32},
                                 {33, 65, 64},  {129, 40, 100}, {5, 7, 545},  {40, 48, 1100},
                                 {130, 15, 33}, {31, 96, 512},  {64, 49, 66}, {256, 32, 7}};

std::string text_of(const Case& one) {
  return std::to_string(one.rows) + " x " + std::to_string(one.columns) + " x " + std::to_string(one.inner);
}

/// Returns element (i, j) as the tiles define its sum, step by step.
float sum_of(const Values& a, bool ta, const Values& b, bool tb, const Case& size, std::int64_t i,
             std::int64_t j) {
  const auto factor = [&](const Values& values, bool inner_last, std::int64_t outer, std::int64_t k,
                          std::int64_t extent) {
    if (k >= size.inner) return 0.0F;
    return static_cast<float>(
        values[static_cast<std::size_t>(inner_last ? outer * size.inner + k : k * extent + outer)]);
  };
  float sum = 0.0F;
  for (std::int64_t step = 0; step < size.inner; step += 32) {
    float even = 0.0F, odd = 0.0F;
    for (std::int64_t k = step; k < step + 32; k += 2) {
      even = kernels::amx::arithmetic::multiply_add(factor(a, !ta, i, k, size.rows),
                                                    factor(b, tb, j, k, size.columns), even);
      odd = kernels::amx::arithmetic::multiply_add(factor(a, !ta, i, k + 1, size.rows),
                                                   factor(b, tb, j, k + 1, size.columns), odd);
    }
    sum = add(sum, add(even, odd));
  }
  return sum;
}

std::vector<float> sums_of(const Values& a, bool ta, const Values& b, bool tb, const Case& size) {
  std::vector<float> sums;
  for (std::int64_t i = 0; i < size.rows; ++i)
    for (std::int64_t j = 0; j < size.columns; ++j) sums.push_back(sum_of(a, ta, b, tb, size, i, j));
  return sums;
}

/// Returns the value as the type stores it.
double as(DType type, float value) {
  return static_cast<double>(type == DType::float32 ? value : static_cast<float>(bfloat16(value)));
}

/// The libraries of products with emulated tiles (true) or with machine code (false). Instructions that the
/// processor lacks are trapped.
class AmxProducts : public ::testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    const bool emulated = GetParam();
    if (emulated) {
      gemm_ = kernels::make_emulated_amx_gemm(kernels::make_portable_gemm());
      integers_ = kernels::make_emulated_amx_integer_gemm();
      return;
    }
#if ENCORE_HAVE_TILE_INSTRUCTIONS && defined(__linux__)
    if (!__builtin_cpu_supports("amx-tile")) {
      trap_.emplace();
    } else if (!kernels::amx::permission().bfloat16 || !kernels::amx::permission().bytes) {
      GTEST_SKIP() << "this processor has tiles, but: " << kernels::amx::permission().reason;
    }
    gemm_ = kernels::make_amx_gemm(kernels::make_portable_gemm());
    integers_ = kernels::make_amx_integer_gemm();
#else
    GTEST_SKIP() << "no tile instructions on this system";
#endif
  }

  void multiply(const kernels::Product& product) {
    gemm_->multiply(device(), product);
  }

  std::unique_ptr<kernels::GemmLibrary> gemm_, integers_;
#if ENCORE_HAVE_TILE_INSTRUCTIONS && defined(__linux__)
  std::optional<TileTrap> trap_;
#endif
};

TEST_P(AmxProducts, HaveTheBitsOfTheirDefinitionEitherWayAndAccumulated) {
  for (const Case& size : cases)
    for (const bool ta : {false, true})
      for (const bool tb : {false, true}) {
        const auto& [m, n, k] = size;
        const contract::OwnedTensor a = random_tensor(DType::bfloat16,
                                                      ta ? std::vector{k, m} : std::vector{m, k}, 1),
                                    b = random_tensor(DType::bfloat16,
                                                      tb ? std::vector{n, k} : std::vector{k, n}, 2);
        const std::vector<float> sums = sums_of(a.values(), ta, b.values(), tb, size);
        for (const DType type : {DType::float32, DType::bfloat16})
          for (const bool accumulate : {false, true}) {
            contract::OwnedTensor c = random_tensor(type, {m, n}, 3);
            const Values before = c.values();
            multiply(
                {.a = a, .b = b, .c = c, .transpose_a = ta, .transpose_b = tb, .accumulate = accumulate});
            device().fence();
            const Values values = c.values();
            for (std::size_t i = 0; i < sums.size(); ++i)
              ASSERT_EQ(values[i], as(type, accumulate ? sums[i] + static_cast<float>(before[i]) : sums[i]))
                  << text_of(size) << (ta ? " T" : " N") << (tb ? "T" : "N") << " at " << i;
          }
      }
}

TEST_P(AmxProducts, AreCloseToThoseInDouble) {
  const Case size{.rows = 70, .columns = 50, .inner = 1100};
  const contract::OwnedTensor a = random_tensor(DType::bfloat16, {size.rows, size.inner}, 1),
                              b = random_tensor(DType::bfloat16, {size.columns, size.inner}, 2),
                              c(DType::float32, {size.rows, size.columns});
  multiply({.a = a, .b = b, .c = c, .transpose_b = true});
  Values expected;
  const Values x = a.values(), y = b.values();
  for (std::int64_t i = 0; i < size.rows; ++i)
    for (std::int64_t j = 0; j < size.columns; ++j) {
      double sum = 0.0;
      for (std::int64_t k = 0; k < size.inner; ++k)
        sum +=
            x[static_cast<std::size_t>(i * size.inner + k)] * y[static_cast<std::size_t>(j * size.inner + k)];
      expected.push_back(sum);
    }
  // There are 35 steps of 16 additions, each of which rounds sums of about sqrt(1100).
  expect_close(c, expected, 33 * 0x1p-24 * 35, "product");
}

TEST_P(AmxProducts, AddABiasAndCutOffNegativeNumbers) {
  for (const Case& size : cases)
    for (const bool with_bias : {false, true})
      for (const bool relu : {false, true}) {
        const contract::OwnedTensor x = random_tensor(DType::bfloat16, {size.rows, size.inner}, 1),
                                    w = random_tensor(DType::bfloat16, {size.columns, size.inner}, 2),
                                    bias = random_tensor(DType::float32, {size.columns}, 3),
                                    y(DType::bfloat16, {size.rows, size.columns});
        const std::vector<float> sums = sums_of(x.values(), false, w.values(), true, size);
        multiply({.a = x,
                  .b = w,
                  .c = y,
                  .transpose_b = true,
                  .bias = with_bias ? bias.tensor() : Tensor(),
                  .relu = relu});
        device().fence();
        const Values values = y.values(), added = bias.values();
        for (std::size_t i = 0; i < sums.size(); ++i) {
          float expected = sums[i];
          if (with_bias) expected += static_cast<float>(added[i % static_cast<std::size_t>(size.columns)]);
          if (relu) expected = std::max(0.0F, expected);
          ASSERT_EQ(values[i], as(DType::bfloat16, expected)) << text_of(size) << " at " << i;
        }
      }
}

TEST_P(AmxProducts, ApplyTheDerivativeAsItsOwnPassDoes) {
  for (const Case& size : cases)
    for (const Activation function : {Activation::relu, Activation::gelu}) {
      const contract::OwnedTensor dy = random_tensor(DType::bfloat16, {size.rows, size.inner}, 1),
                                  w = random_tensor(DType::bfloat16, {size.inner, size.columns}, 2),
                                  saved = random_tensor(DType::bfloat16, {size.rows, size.columns}, 3),
                                  dx(DType::bfloat16, {size.rows, size.columns}),
                                  expected(DType::bfloat16, {size.rows, size.columns});
      multiply({.a = dy, .b = w, .c = dx, .derivative = function, .saved = saved});
      multiply({.a = dy, .b = w, .c = expected});
      kernels::activation_backward(device(), function, saved, expected, expected);
      device().fence();
      EXPECT_EQ(dx.values(), expected.values()) << text_of(size);
    }
}

TEST_P(AmxProducts, SumTheColumnsOfATransposedOperand) {
  for (const auto& [m, n, k] : cases) {
    const contract::OwnedTensor dy = random_tensor(DType::bfloat16, {k, m}, 1),
                                x = random_tensor(DType::bfloat16, {k, n}, 2), dw(DType::float32, {m, n}),
                                plain(DType::float32, {m, n}), sums = random_tensor(DType::float32, {m}, 3);
    const Values before = sums.values(), rows = dy.values();
    multiply({.a = dy, .b = x, .c = dw, .transpose_a = true, .sums = sums});
    multiply({.a = dy, .b = x, .c = plain, .transpose_a = true});
    device().fence();
    EXPECT_EQ(dw.values(), plain.values());
    const Values values = sums.values();
    for (std::int64_t c = 0; c < m; ++c) {
      auto total = static_cast<float>(before[static_cast<std::size_t>(c)]);
      for (std::int64_t first = 0; first < k; first += kernels::rows_of_first_sums) {
        float part = 0.0F;
        for (std::int64_t r = first; r < std::min(k, first + kernels::rows_of_first_sums); ++r)
          part += static_cast<float>(rows[static_cast<std::size_t>(r * m + c)]);
        total += part;
      }
      ASSERT_EQ(values[static_cast<std::size_t>(c)], static_cast<double>(total)) << m << " x " << k;
    }
  }
}

TEST_P(AmxProducts, HaveTheSameBitsWithAWeightThatIsLaidOutAndForEveryNumberOfRows) {
  const std::int64_t out = 72, in = 546, most = 70;
  const contract::OwnedTensor x = random_tensor(DType::bfloat16, {most, in}, 1),
                              w = random_tensor(DType::bfloat16, {out, in}, 2),
                              all(DType::bfloat16, {most, out});
  const auto bytes = static_cast<std::int64_t>(gemm_->layout_bytes(w));
  contract::OwnedTensor memory(DType::float32, {bytes / 4});
  memory.fill(NAN);
  gemm_->lay_out(device(), w, memory.tensor().data);
  multiply({.a = x, .b = w, .c = all, .transpose_b = true});
  device().fence();
  const Values expected = all.values();
  for (std::int64_t rows = 1; rows <= most; rows += 3) {
    const contract::OwnedTensor y(DType::bfloat16, {rows, out});
    multiply({.a = Tensor(x.tensor().data, DType::bfloat16, {rows, in}),
              .b = w,
              .c = y,
              .transpose_b = true,
              .layout = memory.tensor().data});
    device().fence();
    EXPECT_EQ(y.values(), Values(expected.begin(), expected.begin() + rows * out)) << rows;
  }
}

TEST_P(AmxProducts, WithWeightsOfIntegersHaveTheBitsOfTheOtherWay) {
  const auto plain = kernels::make_integer_gemm(8);
  for (const auto& [m, n, k] : cases)
    for (const DType type : {DType::float32, DType::bfloat16})
      for (const bool relu : {false, true}) {
        const contract::OwnedTensor x = random_tensor(type, {m, k}, 1),
                                    w = random_tensor(DType::float32, {n, k}, 2),
                                    bias = random_tensor(DType::float32, {n}, 3), y(type, {m, n}),
                                    expected(type, {m, n});
        ASSERT_EQ(integers_->layout_bytes(w), plain->layout_bytes(w));
        const contract::OwnedTensor memory(DType::float32,
                                           {static_cast<std::int64_t>(plain->layout_bytes(w) / 4)});
        integers_->lay_out(device(), w, memory.tensor().data);
        const auto product = [&](const contract::OwnedTensor& to) {
          return kernels::Product{.a = x,
                                  .b = w,
                                  .c = to,
                                  .transpose_b = true,
                                  .bias = relu ? bias.tensor() : Tensor(),
                                  .relu = relu,
                                  .layout = memory.tensor().data};
        };
        integers_->multiply(device(), product(y));
        plain->multiply(device(), product(expected));
        device().fence();
        EXPECT_EQ(y.values(), expected.values()) << m << " x " << n << " x " << k;
      }
}

INSTANTIATE_TEST_SUITE_P(Tiles, AmxProducts, ::testing::Bool(), [](const auto& given) {
  return std::string(given.param ? "emulated" : "machine_code");
});

#if ENCORE_HAVE_TILE_INSTRUCTIONS && defined(__linux__)

TEST(TileInstructions, AreExecutedBetweenConfigurationAndRelease) {
  if (__builtin_cpu_supports("amx-tile")) GTEST_SKIP() << "this processor executes them itself";
  const std::int64_t configured = TileTrap::configured, multiplied = TileTrap::multiplied;
  const contract::OwnedTensor a = random_tensor(DType::bfloat16, {40, 64}, 1),
                              b = random_tensor(DType::bfloat16, {64, 40}, 2), c(DType::float32, {40, 40});
  {
    const TileTrap trap;
    kernels::make_amx_gemm(kernels::make_portable_gemm())->multiply(device(), {.a = a, .b = b, .c = c});
    device().fence();
  }
  EXPECT_EQ(TileTrap::configured - configured, 2) << "one block of rows times two panels";
  EXPECT_EQ(TileTrap::configured, TileTrap::released);
  EXPECT_EQ(TileTrap::multiplied - multiplied, 3 * 3 * 2);
}

/// The operands have numbers of every size, among them denormal ones, infinities and NaN.
TEST(TileInstructions, ComputeWhatTheEmulationComputesBitForBit) {
  if (!kernels::amx::permission().bfloat16 || !kernels::amx::permission().bytes)
    GTEST_SKIP() << "this machine has no tiles to compare with"
                 << (kernels::amx::permission().reason.empty() ? ""
                                                               : ": " + kernels::amx::permission().reason);
  std::mt19937 draw(1);
  std::array<std::uint16_t, 512> a, b;
  std::array<std::uint32_t, 256> c, instruction, emulation;
  const auto run = [&](auto unit, std::array<std::uint32_t, 256>& to, bool pairs) {
    unit.configure();
    unit.template load<0>(c.data(), 64);
    unit.template load<1>(a.data(), 64);
    unit.template load<2>(b.data(), 64);
    if (pairs)
      unit.template multiply_pairs<0, 1, 2>();
    else
      unit.template multiply_bytes<0, 1, 2>();
    unit.template store<0>(to.data(), 64);
    unit.release();
  };
  for (int turn = 0; turn < 2000; ++turn) {
    // In even turns the exponents are around 1, in odd ones all exponents occur.
    const std::uint32_t mask = turn % 2 == 0 ? 0x83FFU : 0xFFFFU, plus = turn % 2 == 0 ? 0x3E00U : 0U;
    for (std::uint16_t& x : a) x = static_cast<std::uint16_t>((draw() & mask) + plus);
    for (std::uint16_t& x : b) x = static_cast<std::uint16_t>((draw() & mask) + plus);
    for (std::uint32_t& x : c) x = turn % 2 == 0 ? 0U : draw();
    for (const bool pairs : {true, false}) {
      run(kernels::amx::HardwareTiles(), instruction, pairs);
      run(kernels::amx::EmulatedTiles(), emulation, pairs);
      for (std::size_t i = 0; i < c.size(); ++i) {
        const bool nan = pairs && std::isnan(__builtin_bit_cast(float, emulation[i]));
        ASSERT_TRUE(nan ? std::isnan(__builtin_bit_cast(float, instruction[i]))
                        : instruction[i] == emulation[i])
            << (pairs ? "TDPBF16PS" : "TDPBUSD") << " in turn " << turn << " at " << i << ": "
            << instruction[i] << " instead of " << emulation[i];
      }
    }
  }
}

#endif
#else

TEST(AmxProducts, NeedABuildForAvx512Bf16) {
  GTEST_SKIP() << "this build is for a processor without AVX512_BF16";
}

#endif
#endif

}  // namespace
}  // namespace encore::test
