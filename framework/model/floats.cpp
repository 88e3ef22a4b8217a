// SPDX-License-Identifier: BSD-3-Clause
// Implements floats.hpp: copies a tensor from the device and converts its elements to float or double;
// FloatReader keeps its memory between calls. infer/ calls it for states, logits and tables. Read floats.hpp
// first.
#include "model/floats.hpp"

#include <cstring>
#include <type_traits>

#include <encore/bfloat16.hpp>
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

}  // namespace encore::model
