// SPDX-License-Identifier: BSD-3-Clause
// What the tests of kernels share: one device, random tensors, the element types with their tolerances,
// comparison with a reference in double, and EXPECT_REFUSED. All tests of this folder include it, so a wider
// tolerance of a type must be right for all of them.
#pragma once

#include <cmath>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <encore/device.hpp>

#include "contract/test_memory.hpp"

namespace encore::test {

using Values = std::vector<double>;

/// Returns the device of all tests of the program, so that products that were prepared, and the workspace,
/// are used again as in a run.
inline const Device& device() {
  static const Device* const instance = new Device();  // never deleted, because Kokkos is closed before
  return *instance;
}

/// An element type, and how far results may be from the reference: |x - reference| <= tolerance * (1 +
/// |reference|).
struct Precision {
  DType type;
  double tolerance;
};
inline std::ostream& operator<<(std::ostream& out, const Precision& precision) {
  return out << name_of(precision.type);
}
/// Returns all types that kernels compute in, each with its tolerance. float16, if kernels are compiled for
/// it, gets a quarter of bfloat16's, because it has three more bits of precision.
inline std::vector<Precision> precisions(double in_float32, double in_float64, double in_bfloat16) {
  std::vector<Precision> all = {
      {DType::float32, in_float32}, {DType::float64, in_float64}, {DType::bfloat16, in_bfloat16}};
  if (is_activation(DType::float16)) all.push_back({DType::float16, in_bfloat16 / 4});
  return all;
}
inline std::string precision_name(const ::testing::TestParamInfo<Precision>& info) {
  return name_of(info.param.type);
}

/// Returns a tensor of normal values, which `seed` determines, rounded to the type.
inline contract::OwnedTensor random_tensor(DType type, const std::vector<std::int64_t>& shape,
                                           std::uint64_t seed, double deviation = 1.0) {
  contract::OwnedTensor tensor(type, shape);
  tensor.set(contract::normal_values(tensor.tensor().size(), seed, deviation));
  return tensor;
}
inline contract::OwnedTensor integers(const std::vector<std::int64_t>& values, DType type = DType::int32) {
  contract::OwnedTensor tensor(type, {static_cast<std::int64_t>(values.size())});
  tensor.set(Values(values.begin(), values.end()));
  return tensor;
}

/// Expects each value to be within the tolerance of the reference, in the sense of Precision.
inline void expect_close(const Values& values, const Values& reference, double tolerance,
                         const std::string& what) {
  ASSERT_EQ(values.size(), reference.size()) << what;
  for (std::size_t i = 0; i < values.size(); ++i)
    ASSERT_TRUE(values[i] == reference[i] ||
                std::abs(values[i] - reference[i]) <= tolerance * (1.0 + std::abs(reference[i])))
        << what << " at " << i << ": " << values[i] << " instead of " << reference[i];
}
inline void expect_close(const contract::OwnedTensor& actual, const Values& reference, double tolerance,
                         const std::string& what) {
  device().fence();
  expect_close(actual.values(), reference, tolerance, what);
}

/// Returns a + b, element by element.
inline Values plus(Values a, const Values& b) {
  for (std::size_t i = 0; i < a.size(); ++i) a[i] += b[i];
  return a;
}

}  // namespace encore::test

/// Expects that the statement throws an exception whose message contains `part`: the kernel checks its
/// arguments.
#define EXPECT_REFUSED(statement, part)                                                     \
  try {                                                                                     \
    statement;                                                                              \
    ADD_FAILURE() << "not refused: " #statement;                                            \
  } catch (const std::exception& refused) {                                                 \
    EXPECT_NE(std::string(refused.what()).find(part), std::string::npos) << refused.what(); \
  }
