// SPDX-License-Identifier: BSD-3-Clause
// Tests the epilogues of matrix products, that is what a product also does to its operands or result: the
// derivative of an activation, and the sums of columns (the gradient of a bias).
// kernels::linear_backward_input and linear_backward_parameters use them in every training step
// (framework/kernels/products/linear.cpp). Results must have, bit for bit, those of a separate pass, for
// every library, type and shape; column_sums() repeats the order of sums, which must not change.
#include "unit/kernels/kernel_test.hpp"

#include <algorithm>
#include <bit>
#include <set>

#include <encore/rows.hpp>

#include "kernels/products/gemm.hpp"

namespace encore::test {
namespace {

using kernels::Activation;
using kernels::Transpose;

void expect_same_bits(const contract::OwnedTensor& actual, const Values& expected, const std::string& what) {
  device().fence();
  const Values values = actual.values();
  ASSERT_EQ(values.size(), expected.size()) << what;
  for (std::size_t i = 0; i < values.size(); ++i)
    ASSERT_EQ(std::bit_cast<std::uint64_t>(values[i]), std::bit_cast<std::uint64_t>(expected[i]))
        << what << " at " << i << ": " << values[i] << " instead of " << expected[i];
}

/// The shapes of one case: dy (rows, out) and weight (out, in).
struct Shape {
  std::int64_t rows, out, in;
};

/// Returns the shapes of the cases. `large` adds those of a whole model, for the library that computes them
/// there.
std::vector<Shape> shapes(bool large) {
  std::vector<Shape> list;
  for (const std::int64_t rows : {1, 17, 842})
    for (const auto& [out, in] : {std::pair{33, 9}, {9, 384}, {384, 1152}, {1152, 384}, {129, 65}})
      if (large || rows * out * in < 10'000'000) list.push_back({rows, out, in});
  return list;
}

std::string text_of(const Shape& s) {
  return std::to_string(s.rows) + " x " + std::to_string(s.out) + " x " + std::to_string(s.in);
}

/// The library that the device has chosen, and the portable one if the build has it.
struct Libraries {
#ifdef KOKKOS_ENABLE_CUDA
  std::vector<kernels::GemmLibrary*> list = {&device().gemm()};
#else
  std::unique_ptr<kernels::GemmLibrary> portable = kernels::make_portable_gemm();
  std::vector<kernels::GemmLibrary*> list = {&device().gemm(), portable.get()};
#endif
};

class Epilogue : public ::testing::TestWithParam<Precision> {};

/// Returns the values with zeros of both signs, NaN, infinities and subnormal numbers among them.
Values with_special_values(Values values) {
  const double special[] = {0.0, -0.0, NAN, INFINITY, -INFINITY, 1e-40, -1e-40};
  for (std::size_t i = 0; i < values.size(); i += 5) values[i] = special[i / 5 % std::size(special)];
  return values;
}

TEST_P(Epilogue, TheDerivativeHasTheBitsOfActivationBackward) {
  const DType type = GetParam().type;
  const Libraries libraries;
  for (kernels::GemmLibrary* library : libraries.list)
    for (const Shape& shape : shapes(library == &device().gemm()))
      for (const Activation function : {Activation::relu, Activation::gelu}) {
        const contract::OwnedTensor dy = random_tensor(type, {shape.rows, shape.out}, 1),
                                    weight = random_tensor(type, {shape.out, shape.in}, 2);
        contract::OwnedTensor saved = random_tensor(type, {shape.rows, shape.in}, 3),
                              fused(type, {shape.rows, shape.in}), apart(type, {shape.rows, shape.in});
        if (function == Activation::relu) saved.set(with_special_values(saved.values()));
        fused.fill(NAN);
        library->multiply(device(), {.a = dy, .b = weight, .c = apart});
        kernels::activation_backward(device(), function, saved, apart, apart);
        library->multiply(device(),
                          {.a = dy, .b = weight, .c = fused, .derivative = function, .saved = saved});
        device().fence();
        expect_same_bits(fused, apart.values(), library->name() + ", " + text_of(shape));
      }
}

TEST_P(Epilogue, LinearBackwardInputTakesTheDerivative) {
  const DType type = GetParam().type;
  const contract::OwnedTensor dy = random_tensor(type, {17, 33}, 1),
                              weight = random_tensor(type, {33, 65}, 2),
                              saved = random_tensor(type, {17, 65}, 3);
  contract::OwnedTensor dx(type, {17, 65}), apart(type, {17, 65});
  for (const Activation function : {Activation::none, Activation::relu, Activation::gelu, Activation::tanh,
                                    Activation::silu, Activation::sigmoid}) {
    kernels::linear_backward_input(device(), dy, weight, apart);
    const Values product = apart.values();
    kernels::activation_backward(device(), function, saved, apart, apart);
    kernels::linear_backward_input(device(), dy, weight, dx, function, saved);
    device().fence();
    expect_same_bits(dx, apart.values(), "dx");
    EXPECT_EQ(dx.values() == product, function == Activation::none);
  }
}

/// Returns values of such different sizes that hardly any sum is exact, even in bfloat16: so the order of a
/// sum shows in its bits.
contract::OwnedTensor uneven_tensor(DType type, const std::vector<std::int64_t>& shape, std::uint64_t seed) {
  contract::OwnedTensor tensor = random_tensor(type, shape, seed);
  Values values = tensor.values();
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = std::ldexp(values[i], static_cast<int>(i % 23));
  tensor.set(values);
  return tensor;
}

/// Returns the sums of columns, added to `sums`: blocks of 64 rows, each from its first to its last row, then
/// the blocks in the order of `block_at`. On a GPU runs of blocks, at most 32, are summed first.
template <class S, class BlockAt>
Values column_sums(const Values& rows, Values sums, const BlockAt& block_at) {
  const std::size_t columns = sums.size(), count = rows.size() / columns, blocks = (count + 63) / 64;
  for (std::size_t c = 0; c < columns; ++c) {
    S result = static_cast<S>(sums[c]);
    const std::size_t length = ENCORE_HOST_BACKEND ? 1 : (blocks + 31) / 32;
    for (std::size_t first = 0; first < blocks; first += length) {
      S run = S(0);
      for (std::size_t i = first; i < std::min(blocks, first + length); ++i) {
        const std::size_t begin = block_at(i, blocks) * 64;
        S block = S(0);
        for (std::size_t r = begin; r < std::min(count, begin + 64); ++r)
          block += static_cast<S>(rows[r * columns + c]);
        run += block;
      }
      result += run;
    }
    sums[c] = static_cast<double>(result);
  }
  return sums;
}

template <class BlockAt>
Values column_sums(DType type, const Values& rows, const Values& sums, const BlockAt& block_at) {
  return type == DType::float64 ? column_sums<double>(rows, sums, block_at)
                                : column_sums<float>(rows, sums, block_at);
}

TEST_P(Epilogue, SumsOfColumnsKeepTheirOrderAndLeaveTheProductAsItIs) {
  const DType type = GetParam().type;
  const Libraries libraries;
  for (kernels::GemmLibrary* library : libraries.list)
    for (const Shape& shape : shapes(library == &device().gemm()))
      for (const bool accumulate : {false, true}) {
        const std::string what = library->name() + ", " + text_of(shape) + (accumulate ? ", added" : "");
        const contract::OwnedTensor dy = uneven_tensor(type, {shape.rows, shape.out}, 1),
                                    x = random_tensor(type, {shape.rows, shape.in}, 2);
        contract::OwnedTensor fused = random_tensor(sum_type(type), {shape.out, shape.in}, 3),
                              apart = random_tensor(sum_type(type), {shape.out, shape.in}, 3),
                              sums = random_tensor(sum_type(type), {shape.out}, 4);
        const Values before = sums.values();
        library->multiply(device(),
                          {.a = dy, .b = x, .c = apart, .transpose_a = true, .accumulate = accumulate});
        library->multiply(
            device(),
            {.a = dy, .b = x, .c = fused, .transpose_a = true, .accumulate = accumulate, .sums = sums});
        device().fence();
        expect_same_bits(fused, apart.values(), what);
        const auto in_order = [](std::size_t i, std::size_t) { return i; };
        expect_same_bits(sums, column_sums(type, dy.values(), before, in_order), what + ", sums");
      }
}

TEST_P(Epilogue, SumsOfManyRowsKeepTheirOrder) {
  const DType type = GetParam().type;
  for (const std::int64_t rows : {2048, 2049, 4500}) {
    const contract::OwnedTensor dy = uneven_tensor(type, {rows, 67}, 1),
                                x = random_tensor(type, {rows, 9}, 2);
    contract::OwnedTensor dweight(sum_type(type), {67, 9}), dbias(sum_type(type), {67});
    kernels::linear_backward_parameters(device(), dy, x, dweight, dbias);
    device().fence();
    const auto in_order = [](std::size_t i, std::size_t) { return i; };
    expect_same_bits(dbias, column_sums(type, dy.values(), Values(67, 0.0), in_order),
                     std::to_string(rows) + " rows");
  }
}

TEST_P(Epilogue, SumsInAnotherOrderWouldBeNoticed) {
  const DType type = GetParam().type;
  const contract::OwnedTensor dy = uneven_tensor(type, {842, 384}, 1), x = random_tensor(type, {842, 9}, 2);
  contract::OwnedTensor dweight(sum_type(type), {384, 9}), dbias(sum_type(type), {384});
  kernels::linear_backward_parameters(device(), dy, x, dweight, dbias);
  device().fence();
  const Values zero(384, 0.0);
  const auto backwards = [](std::size_t i, std::size_t blocks) { return blocks - 1 - i; };
  EXPECT_NE(dbias.values(), column_sums(type, dy.values(), zero, backwards));
  const auto swapped = [](std::size_t i, std::size_t) { return i == 0 ? 2 : i == 2 ? 0 : i; };
  EXPECT_NE(dbias.values(), column_sums(type, dy.values(), zero, swapped));
}

#if ENCORE_HOST_BACKEND
INSTANTIATE_TEST_SUITE_P(Precisions, Epilogue, ::testing::ValuesIn(precisions(0.0, 0.0, 0.0)),
                         precision_name);

std::set<std::string>& seen_labels() {
  static std::set<std::string> labels;
  return labels;
}
void remember_label(const char* name, std::uint32_t, std::uint64_t*) {
  seen_labels().insert(name);
}

TEST(Epilogues, NeedNoPassesOfTheirOwnOnAHost) {
  const auto before = Kokkos::Tools::Experimental::get_callbacks();
  Kokkos::Tools::Experimental::set_begin_parallel_for_callback(remember_label);
  for (const DType type : {DType::float32, DType::float64, DType::bfloat16}) {
    const contract::OwnedTensor dy(type, {17, 33}), weight(type, {33, 65}), x(type, {17, 65}),
        dx(type, {17, 65}), dweight(sum_type(type), {33, 65}), dbias(sum_type(type), {33});
    kernels::linear_backward_input(device(), dy, weight, dx, Activation::relu, x);
    kernels::linear_backward_input(device(), dy, weight, dx, Activation::gelu, x);
    kernels::linear_backward_parameters(device(), dy, x, dweight, dbias);
  }
  Kokkos::Tools::Experimental::set_callbacks(before);
  std::set<std::string> others = seen_labels();
  std::erase_if(others, [](const std::string& label) {  // kernels also initialize memory
    return !label.starts_with("encore::") || label == "encore::gemm_pack";
  });
  EXPECT_EQ(others, std::set<std::string>{"encore::gemm"});
}
#else
INSTANTIATE_TEST_SUITE_P(Precisions, Epilogue,
                         ::testing::Values(Precision{DType::float32, 0.0}, Precision{DType::float64, 0.0}),
                         precision_name);
#endif

TEST(EpilogueRefuses, WhatTheProductCouldNotUse) {
  const contract::OwnedTensor dy(DType::float32, {4, 5}), weight(DType::float32, {5, 7}),
      dx(DType::float32, {4, 7}), narrow(DType::float32, {4, 6}), wide(DType::float64, {4, 7});
  const auto input = [&](const Tensor& saved) {
    kernels::linear_backward_input(device(), dy, weight, dx, Activation::relu, saved);
  };
  EXPECT_REFUSED(input({}), "saved is float32 () without memory, expected float32 (4, 7)");
  EXPECT_REFUSED(input(narrow), "saved is float32 (4, 6), expected float32 (4, 7)");
  EXPECT_REFUSED(input(wide), "saved is float64 (4, 7), expected float32 (4, 7)");
  EXPECT_REFUSED(input(dx), "saved is dx, which is overwritten before the derivative is taken");
  const contract::OwnedTensor no_dy(DType::float32, {4, 0}), no_weight(DType::float32, {0, 7}),
      saved(DType::float32, {4, 7});
  EXPECT_REFUSED(kernels::linear_backward_input(device(), no_dy, no_weight, dx, Activation::relu, saved),
                 "dy is float32 (4, 0), expected a column at least");
  EXPECT_REFUSED(kernels::linear_backward_input(device(), dy, weight, narrow, Activation::relu, narrow),
                 "dx is float32 (4, 6), expected float32 (4, 7)");
}

TEST(EpilogueRefuses, SumsThatDoNotFit) {
  const contract::OwnedTensor dy(DType::float32, {4, 5}), x(DType::float32, {4, 7}),
      dweight(DType::float32, {5, 7}), dbias(DType::float32, {5}), long_bias(DType::float32, {7}),
      wide(DType::float64, {5});
  const auto parameters = [&](const Tensor& states, const Tensor& matrix, const Tensor& bias) {
    kernels::linear_backward_parameters(device(), dy, states, matrix, bias);
  };
  EXPECT_REFUSED(parameters(x, dweight, long_bias), "dbias is float32 (7), expected float32 (5)");
  EXPECT_REFUSED(parameters(x, dweight, wide), "dbias is float64 (5), expected float32 (5)");
  EXPECT_REFUSED(parameters(contract::OwnedTensor(DType::float32, {3, 7}), dweight, dbias),
                 "x is float32 (3, 7), expected float32 (4, 7)");
  EXPECT_REFUSED(parameters(contract::OwnedTensor(DType::float32, {4, 0}),
                            contract::OwnedTensor(DType::float32, {5, 0}), dbias),
                 "x is float32 (4, 0), expected a column at least");
}

}  // namespace
}  // namespace encore::test
