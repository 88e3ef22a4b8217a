// See floats.hpp.
#include "model/floats.hpp"

#include <encore/bfloat16.hpp>

#include "memory/device_memory.hpp"

namespace encore {
namespace {

template <class To, class T>
std::vector<To> converted(const Device& device, Tensor tensor) {
  std::vector<T> elements(static_cast<std::size_t>(tensor.size()));
  copy_to_host(device, tensor, elements.data());
  std::vector<To> numbers;
  numbers.reserve(elements.size());
  for (const T element : elements) numbers.push_back(static_cast<To>(element));
  return numbers;
}

template <class To>
std::vector<To> numbers_of(const Device& device, Tensor tensor) {
  switch (tensor.dtype) {
    case DType::bfloat16:
      return converted<To, bfloat16>(device, tensor);
    case DType::float64:
      return converted<To, double>(device, tensor);
    default:
      ENCORE_REQUIRE(tensor.dtype == DType::float32, "a tensor of floating-point numbers");
      return converted<To, float>(device, tensor);
  }
}

}  // namespace

std::vector<float> floats_of(const Device& device, Tensor tensor) {
  return numbers_of<float>(device, tensor);
}

std::vector<double> doubles_of(const Device& device, Tensor tensor) {
  return numbers_of<double>(device, tensor);
}

}  // namespace encore
