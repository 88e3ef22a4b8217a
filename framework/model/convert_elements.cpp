// SPDX-License-Identifier: BSD-3-Clause
// Implements convert_elements(): converts the floating-point numbers of a tensor in a file from one type to
// another, for load_parameters.cpp (pretrained weights in half precision) and infer/hugging_face_export.cpp.
// Every number is rounded once, to nearest, ties to even. Read convert_elements.hpp first.
#include "model/convert_elements.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>

#include <encore/bfloat16.hpp>
#include <encore/error.hpp>
#include <encore/float16.hpp>

namespace encore::model {
namespace {

/// Returns the nearest number, ties to even, in a 16-bit format with a sign, an exponent and `fraction_bits`.
template <int fraction_bits>
std::uint16_t rounded(double value) {
  constexpr int bias = (1 << (14 - fraction_bits)) - 1;
  constexpr unsigned infinity = 0x7FFFU >> fraction_bits << fraction_bits;
  const unsigned sign = std::signbit(value) ? 0x8000U : 0U;
  if (std::isnan(value)) return static_cast<std::uint16_t>(sign | infinity | 1U << (fraction_bits - 1));
  if (std::isinf(value)) return static_cast<std::uint16_t>(sign | infinity);
  if (value == 0.0) return static_cast<std::uint16_t>(sign);
  int exponent = 0;
  std::frexp(value, &exponent);
  // Numbers below the smallest normal number are as far apart as the smallest normal numbers. If rounding
  // reaches the next power of two, the carry changes the bits of the exponent, which is correct.
  const int power = std::max(exponent - 1, 1 - bias);
  const double steps = std::nearbyint(std::ldexp(std::abs(value), fraction_bits - power));
  const double bits = std::ldexp(power + bias - 1, fraction_bits) + steps;
  return static_cast<std::uint16_t>(sign | static_cast<unsigned>(std::min<double>(bits, infinity)));
}

/// Makes the number of a file from a double, rounded once.
template <class Number, int fraction_bits>
struct Stored {
  Number number;
  Stored() = default;
  explicit Stored(double value) { number.bits = rounded<fraction_bits>(value); }
  explicit operator double() const { return static_cast<float>(number); }
};
using Float16 = Stored<float16, 10>;
using Bfloat16 = Stored<bfloat16, 7>;

template <class From, class To>
std::vector<std::byte> converted(std::span<const std::byte> bytes, record::StoredType to) {
  std::vector<std::byte> result(bytes.size() / sizeof(From) * sizeof(To));
  for (std::size_t i = 0; i < bytes.size() / sizeof(From); ++i) {
    From number;
    std::memcpy(&number, bytes.data() + i * sizeof(From), sizeof(From));
    const auto value = static_cast<double>(number);
    const To nearest(value);
    if (std::isfinite(value) && !std::isfinite(static_cast<double>(nearest))) {
      char text[32];
      std::snprintf(text, sizeof text, "%.9g", value);
      throw Error(std::string(text) + " is beyond what " + record::name_of(to) + " holds");
    }
    std::memcpy(result.data() + i * sizeof(To), &nearest, sizeof(To));
  }
  return result;
}

template <class From>
std::vector<std::byte> converted(std::span<const std::byte> bytes, record::StoredType to) {
  if (to == record::StoredType::float16) return converted<From, Float16>(bytes, to);
  if (to == record::StoredType::bfloat16) return converted<From, Bfloat16>(bytes, to);
  return to == record::StoredType::float32 ? converted<From, float>(bytes, to)
                                           : converted<From, double>(bytes, to);
}

}  // namespace

bool is_float(record::StoredType type) {
  return type == record::StoredType::float32 || type == record::StoredType::float64 ||
         type == record::StoredType::bfloat16 || type == record::StoredType::float16;
}

std::vector<std::byte> convert_elements(record::StoredType from, std::span<const std::byte> bytes,
                                        record::StoredType to) {
  ENCORE_REQUIRE(is_float(from) && is_float(to),
                 std::string(record::name_of(from)) + " cannot become " + record::name_of(to));
  if (from == record::StoredType::float16) return converted<Float16>(bytes, to);
  if (from == record::StoredType::bfloat16) return converted<Bfloat16>(bytes, to);
  return from == record::StoredType::float32 ? converted<float>(bytes, to) : converted<double>(bytes, to);
}

}  // namespace encore::model
