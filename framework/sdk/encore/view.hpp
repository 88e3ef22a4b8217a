// From Tensor to Kokkos: checked unmanaged Views of tensors, for kernels that are templates of the element
// type (elements.hpp).
//
//   template <class T> void scale(const Device& device, double factor, Tensor x) {
//     const auto values = vector_view<T>(x);
//     Kokkos::parallel_for("my::scale", Kokkos::RangePolicy<ExecutionSpace>(device.space(), 0, x.size()),
//                          KOKKOS_LAMBDA(const std::int64_t i) { values(i) *= static_cast<T>(factor); });
//   }
//   dispatch(x.dtype, [&](auto type) { scale<decltype(type)>(device, factor, x); });
#pragma once

#include <string>

#include <encore/elements.hpp>
#include <encore/space.hpp>

namespace encore {

template <class T>
using VectorView =
    Kokkos::View<T*, Kokkos::LayoutRight, DeviceMemory, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
template <class T>
using MatrixView =
    Kokkos::View<T**, Kokkos::LayoutRight, DeviceMemory, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

template <class T>
VectorView<T> vector_view(const Tensor& tensor) {
  ENCORE_REQUIRE(tensor.rank == 1,
                 "a vector is expected, the tensor has rank " + std::to_string(tensor.rank));
  return VectorView<T>(elements<T>(tensor), tensor.extent(0));
}

template <class T>
MatrixView<T> matrix_view(const Tensor& tensor) {
  ENCORE_REQUIRE(tensor.rank == 2,
                 "a matrix is expected, the tensor has rank " + std::to_string(tensor.rank));
  return MatrixView<T>(elements<T>(tensor), tensor.extent(0), tensor.extent(1));
}

}  // namespace encore
