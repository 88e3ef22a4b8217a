// SPDX-License-Identifier: BSD-3-Clause
// Sets on how many host threads kernels run, and on which CPUs these threads may run. Kokkos fixes its
// number of threads when it opens; to use fewer, an execution space instance with a smaller pool replaces
// the default one. Bits do not depend on the number, because no kernel cuts a sum by threads.
// train/adaptive_threads.cpp changes it between two steps.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include <encore/device.hpp>

namespace encore::kernels {

/// Says where threads that OpenMP binds (OMP_PROC_BIND) may run.
enum class Binding : std::uint8_t {
  own_place,  ///< each thread runs on the CPUs of its own place
  any_place,  ///< each thread may run on the CPUs of all places
};

/// Makes kernels of `device` run on `threads` threads from now on, 1 to host_threads(). Kernels still take
/// memory for host_threads() threads. Each of the threads calls `each` once, such as
/// record::add_signal_stack, which a new thread needs. Call it only between two kernels, from the thread
/// that launches them. It does nothing on a GPU.
void use_host_threads(const Device& device, int threads, Binding binding,
                      const std::function<void()>& each = {});

/// Returns the numbers of the CPUs on which the threads of OpenMP may run: all places if it binds, else those
/// of this thread.
std::vector<int> host_cpus();

}  // namespace encore::kernels
