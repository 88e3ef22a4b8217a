// SPDX-License-Identifier: BSD-3-Clause
// KokkosWatch: registers callbacks with Kokkos Tools, and records the kernels and allocations that a part
// launches during a check. layer_checks.cpp and optimizer_checks.cpp use it; nothing is stored. Read
// suite.hpp first.
#include "contract/suite.hpp"

#include <set>

#include <Kokkos_Core.hpp>

namespace encore::contract {
namespace {

std::set<std::string>& seen_kernels() {
  static std::set<std::string> labels;
  return labels;
}
std::vector<std::string>& seen_allocations() {
  static std::vector<std::string> labels;
  return labels;
}
void on_kernel(const char* label, std::uint32_t, std::uint64_t*) {
  seen_kernels().insert(label);
}
void on_allocation(Kokkos::Profiling::SpaceHandle, const char* label, const void*, std::uint64_t) {
  seen_allocations().emplace_back(label);
}

}  // namespace

KokkosWatch::KokkosWatch() {
  seen_kernels().clear();
  seen_allocations().clear();
  Kokkos::Tools::Experimental::set_begin_parallel_for_callback(on_kernel);
  Kokkos::Tools::Experimental::set_begin_parallel_reduce_callback(on_kernel);
  Kokkos::Tools::Experimental::set_begin_parallel_scan_callback(on_kernel);
  Kokkos::Tools::Experimental::set_allocate_data_callback(on_allocation);
}

KokkosWatch::~KokkosWatch() {
  Kokkos::Tools::Experimental::set_begin_parallel_for_callback(nullptr);
  Kokkos::Tools::Experimental::set_begin_parallel_reduce_callback(nullptr);
  Kokkos::Tools::Experimental::set_begin_parallel_scan_callback(nullptr);
  Kokkos::Tools::Experimental::set_allocate_data_callback(nullptr);
}

std::vector<std::string> KokkosWatch::kernels() const {
  return {seen_kernels().begin(), seen_kernels().end()};
}
std::vector<std::string> KokkosWatch::allocations() const {
  return seen_allocations();
}

}  // namespace encore::contract
