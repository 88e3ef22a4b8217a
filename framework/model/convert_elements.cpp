// One pair of types at a time, element by element.
#include "model/convert_elements.hpp"

#include <bit>
#include <cstring>

#include <encore/bfloat16.hpp>
#include <encore/error.hpp>

namespace encore {
namespace {

/// 16 bits of the file.
struct Half {
  std::uint16_t bits;
  explicit operator float() const { return float_of_half(bits); }
  explicit operator double() const { return float_of_half(bits); }
};

template <class From, class To>
void convert(std::span<const std::byte> bytes, std::byte* to) {
  for (std::size_t i = 0; i < bytes.size() / sizeof(From); ++i) {
    From value;
    std::memcpy(&value, bytes.data() + i * sizeof(From), sizeof(From));
    const To result = static_cast<To>(value);
    std::memcpy(to + i * sizeof(To), &result, sizeof(To));
  }
}

template <class From>
std::vector<std::byte> convert_to(std::span<const std::byte> bytes, DType to) {
  std::vector<std::byte> result(bytes.size() / sizeof(From) * size_of(to));
  if (to == DType::float64)
    convert<From, double>(bytes, result.data());
  else
    convert<From, float>(bytes, result.data());
  return result;
}

}  // namespace

bool is_float(StoredType type) {
  return !type || *type == DType::float32 || *type == DType::float64 || *type == DType::bfloat16;
}

float float_of_half(std::uint16_t bits) {
  const std::uint32_t sign = std::uint32_t{bits & 0x8000U} << 16;
  const std::uint32_t exponent = (bits >> 10) & 0x1FU;
  const std::uint32_t fraction = bits & 0x3FFU;
  if (exponent == 0) {  // fraction * 2^-24
    const float magnitude = static_cast<float>(fraction) * 0x1p-24F;
    return sign != 0 ? -magnitude : magnitude;
  }
  const std::uint32_t widened = exponent == 0x1F ? 0xFFU : exponent + 112U;  // of bias 15 to bias 127
  return std::bit_cast<float>(sign | widened << 23 | fraction << 13);
}

std::vector<std::byte> convert_elements(StoredType from, std::span<const std::byte> bytes, DType to) {
  ENCORE_REQUIRE(is_float(from) && (to == DType::float32 || to == DType::float64),
                 std::string(name_of(from)) + " cannot become " + name_of(to));
  if (!from) return convert_to<Half>(bytes, to);
  if (*from == DType::bfloat16) return convert_to<bfloat16>(bytes, to);
  return *from == DType::float32 ? convert_to<float>(bytes, to) : convert_to<double>(bytes, to);
}

}  // namespace encore
