// See floats.hpp.
#include "model/floats.hpp"

#include <encore/bfloat16.hpp>

#include "memory/device_memory.hpp"

namespace encore {
namespace {

template <class T>
std::vector<float> floats_of(const Device& device, Tensor tensor) {
  std::vector<T> elements(static_cast<std::size_t>(tensor.size()));
  copy_to_host(device, tensor, elements.data());
  std::vector<float> floats;
  floats.reserve(elements.size());
  for (const T element : elements) floats.push_back(static_cast<float>(element));
  return floats;
}

}  // namespace

std::vector<float> floats_of(const Device& device, Tensor tensor) {
  switch (tensor.dtype) {
    case DType::bfloat16:
      return floats_of<bfloat16>(device, tensor);
    case DType::float64:
      return floats_of<double>(device, tensor);
    default:
      ENCORE_REQUIRE(tensor.dtype == DType::float32, "a tensor of floating-point numbers");
      return floats_of<float>(device, tensor);
  }
}

}  // namespace encore
