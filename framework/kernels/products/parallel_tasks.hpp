// SPDX-License-Identifier: BSD-3-Clause
// Runs tasks of unequal length on the host, each in the next free thread (parallel_tasks). Results must not
// depend on which thread runs a task. gemm_amx.cpp, gemm_bfloat16.cpp and gemm_integers.cpp use it.
#pragma once

#include <cstdint>

#include <encore/device.hpp>
#include <encore/space.hpp>

namespace encore::kernels {

/// Calls body(task) for each task from 0 to tasks - 1.
template <class Body>
void parallel_tasks(const Device& device, const char* label, std::int64_t tasks, const Body& body) {
  Kokkos::parallel_for(
      label,
      Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<std::int64_t>, Kokkos::Schedule<Kokkos::Dynamic>>(
          device.space(), 0, tasks, Kokkos::ChunkSize(1)),
      body);
}

}  // namespace encore::kernels
