// SPDX-License-Identifier: BSD-3-Clause
// Implements floats.hpp: copies a tensor from the device and converts its elements to float or double, and
// converts the numbers of a file from one type to another (convert_elements). infer/ calls it for states,
// logits and tables, load_parameters.cpp for pretrained weights. Every number is rounded once, to nearest,
// ties to even; another rounding would change weights and bits. Read floats.hpp first.
#include "model/floats.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <type_traits>

#include <encore/bfloat16.hpp>
#include <encore/error.hpp>
#include <encore/float16.hpp>

#include "memory/device_memory.hpp"

namespace encore::model {
namespace {

/// Copies the elements of a tensor to the host as `To`. `elements` is scratch memory, used if the tensor has
/// another type.
template <class T, class To>
void convert_from(const Device& device, Tensor tensor, std::vector<std::byte>& elements,
                  std::vector<To>& numbers) {
  numbers.resize(static_cast<std::size_t>(tensor.size()));
  if constexpr (std::is_same_v<T, To>) {
    memory::copy_to_host(device, tensor, numbers.data());
  } else {
    elements.resize(tensor.bytes());
    memory::copy_to_host(device, tensor, elements.data());
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      T element;
      std::memcpy(&element, elements.data() + i * sizeof(T), sizeof(T));
      numbers[i] = static_cast<To>(element);
    }
  }
}

template <class To>
void convert(const Device& device, Tensor tensor, std::vector<std::byte>& elements,
             std::vector<To>& numbers) {
  switch (tensor.dtype) {
    case DType::bfloat16:
      return convert_from<bfloat16>(device, tensor, elements, numbers);
    case DType::float16:
      return convert_from<float16>(device, tensor, elements, numbers);
    case DType::float64:
      return convert_from<double>(device, tensor, elements, numbers);
    default:
      ENCORE_REQUIRE(tensor.dtype == DType::float32, "a tensor of floating-point numbers");
      return convert_from<float>(device, tensor, elements, numbers);
  }
}

template <class To>
std::vector<To> numbers_of(const Device& device, Tensor tensor) {
  std::vector<std::byte> elements;
  std::vector<To> numbers;
  convert(device, tensor, elements, numbers);
  return numbers;
}

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

std::vector<float> floats_of(const Device& device, Tensor tensor) {
  return numbers_of<float>(device, tensor);
}

std::vector<double> doubles_of(const Device& device, Tensor tensor) {
  return numbers_of<double>(device, tensor);
}

std::span<const float> FloatReader::read(const Device& device, Tensor tensor) {
  convert(device, tensor, elements_, floats_);
  return floats_;
}

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
