// On how many of its threads the host computes kernels, and on which CPUs they may run. Kokkos' number of
// threads is fixed when it opens; fewer of them are an execution space instance of a smaller pool. No bit
// depends on it: no kernel cuts a sum by threads. Place in the flow: train/adaptive_threads.cpp changes them
// between two steps.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include <encore/device.hpp>

namespace encore {

/// Where OpenMP binds its threads (OMP_PROC_BIND): whether each keeps to its place or may use every place.
enum class Binding : std::uint8_t { own_place, any_place };

/// Kernels of `device` run on `threads` threads from now on, 1 to host_threads(). Memory that kernels take
/// for each thread is still that of host_threads(). Each of the threads calls `each` once. Between two
/// kernels only, from the thread that launches them. Does nothing on a GPU.
void use_host_threads(const Device& device, int threads, Binding binding,
                      const std::function<void()>& each = {});

/// Numbers of the CPUs on which the threads of OpenMP may run: all places where it binds, else those of this
/// thread.
std::vector<int> host_cpus();

}  // namespace encore
