// SPDX-License-Identifier: BSD-3-Clause
// The execution space of this build (OpenMP, Serial, CUDA or HIP) and its memory, for authors of kernels; the
// header that includes Kokkos. SpaceInstance is the type that device.hpp declares. Plugins are compiled with
// these types, so they change only with a new ENCORE_SDK_VERSION (plugin.hpp). Read next: rows.hpp and
// view.hpp, which most kernels use.
#pragma once

#include <Kokkos_Core.hpp>

#include <encore/device.hpp>

namespace encore {

using ExecutionSpace = Kokkos::DefaultExecutionSpace;
using DeviceMemory = ExecutionSpace::memory_space;

/// What Device::space() returns. Policies take it as it is; functions of Kokkos that are templates of the
/// space (deep_copy) want `const ExecutionSpace& space = device.space();`.
class SpaceInstance : public ExecutionSpace {};

}  // namespace encore
