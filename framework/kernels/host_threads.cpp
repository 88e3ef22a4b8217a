// SPDX-License-Identifier: BSD-3-Clause
// Implements use_host_threads() of host_threads.hpp, which train/adaptive_threads.cpp calls between two
// steps. It relies on the OpenMP of GCC: that ends the threads that a smaller parallel region does not need,
// and starts them again, bound to their place, for the next larger one. Read host_threads.hpp first.
#include "kernels/host_threads.hpp"

#include <sched.h>

#include <encore/error.hpp>
#include <encore/rows.hpp>

#ifdef KOKKOS_ENABLE_OPENMP
#include <omp.h>
#endif

namespace encore::kernels {
namespace {

#ifdef KOKKOS_ENABLE_OPENMP
void add_place(int place, cpu_set_t& cpus) {
  std::vector<int> numbers(static_cast<std::size_t>(omp_get_place_num_procs(place)));
  omp_get_place_proc_ids(place, numbers.data());
  for (const int cpu : numbers)
    if (cpu >= 0 && cpu < CPU_SETSIZE) CPU_SET(cpu, &cpus);
}

bool binds() {
  return omp_get_proc_bind() != omp_proc_bind_false && omp_get_num_places() > 0;
}

/// Sets the CPUs on which the calling thread may run.
void bind(Binding binding) {
  cpu_set_t cpus;
  CPU_ZERO(&cpus);
  if (binding == Binding::own_place && omp_get_place_num() >= 0)
    add_place(omp_get_place_num(), cpus);
  else
    for (int place = 0; place < omp_get_num_places(); ++place) add_place(place, cpus);
  ::sched_setaffinity(0, sizeof cpus,
                      &cpus);  // refused if a group has taken the CPUs away: the binding stays as it was
}
#endif

}  // namespace

void use_host_threads([[maybe_unused]] const Device& device, [[maybe_unused]] int threads,
                      [[maybe_unused]] Binding binding, [[maybe_unused]] const std::function<void()>& each) {
#if ENCORE_HOST_BACKEND && defined(KOKKOS_ENABLE_OPENMP)
  ENCORE_REQUIRE(threads >= 1 && threads <= host_threads(),
                 "threads must be from 1 to those that Kokkos has");
  // The const_cast is valid because the device owns its instance; it is constant only for plugins.
  ExecutionSpace& space = const_cast<SpaceInstance&>(device.space());
  space = threads == host_threads() ? ExecutionSpace() : ExecutionSpace(threads);
  const bool bound = binds();
  // A library that a kernel calls within a region would otherwise start all threads in a region of one.
  omp_set_num_threads(threads);
#pragma omp parallel num_threads(threads)
  {
    if (bound) bind(binding);
    if (each) each();
  }
#endif
}

std::vector<int> host_cpus() {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  ::sched_getaffinity(0, sizeof allowed, &allowed);
#ifdef KOKKOS_ENABLE_OPENMP
  if (binds()) {
    CPU_ZERO(&allowed);
    for (int place = 0; place < omp_get_num_places(); ++place) add_place(place, allowed);
  }
#endif
  std::vector<int> cpus;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
    if (CPU_ISSET(cpu, &allowed)) cpus.push_back(cpu);
  return cpus;
}

}  // namespace encore::kernels
