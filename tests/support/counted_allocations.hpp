// SPDX-License-Identifier: BSD-3-Clause
// Counts the memory that a program takes: every heap block, also those of libraries, by functions in place of
// malloc, and every allocation of Kokkos. Exactly one file of a test program may include it, because the
// definitions below replace those of the C library: unit/model/allocation_test.cpp and
// unit/infer/engine_allocation_test.cpp do.
#pragma once

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>

#include <Kokkos_Core.hpp>

extern "C" {
void* __libc_malloc(std::size_t bytes);
void* __libc_calloc(std::size_t count, std::size_t bytes);
void* __libc_realloc(void* old, std::size_t bytes);
void* __libc_memalign(std::size_t alignment, std::size_t bytes);
}

namespace {
constexpr std::size_t large = 1024;  // bytes; a block of at least this size counts as large
std::atomic<long> large_allocations = 0;
std::atomic<long> allocations = 0;
int kokkos_allocations = 0;

void count(std::size_t bytes) {
  allocations.fetch_add(1, std::memory_order_relaxed);
  if (bytes >= large) large_allocations.fetch_add(1, std::memory_order_relaxed);
}
void count_kokkos_allocation(Kokkos::Profiling::SpaceHandle, const char*, const void*, std::uint64_t) {
  ++kokkos_allocations;
}
}  // namespace

#ifdef __CUDACC__
#pragma nv_diag_suppress 20011  // CUDA's headers call malloc a function of kernels too; none calls it here
#endif
extern "C" {
void* malloc(std::size_t bytes) {
  count(bytes);
  return __libc_malloc(bytes);
}
void* calloc(std::size_t number, std::size_t bytes) {
  count(number * bytes);
  return __libc_calloc(number, bytes);
}
void* realloc(void* old, std::size_t bytes) {
  count(bytes);
  return __libc_realloc(old, bytes);
}
void* memalign(std::size_t alignment, std::size_t bytes) {
  count(bytes);
  return __libc_memalign(alignment, bytes);
}
void* aligned_alloc(std::size_t alignment, std::size_t bytes) {
  return memalign(alignment, bytes);
}
int posix_memalign(void** memory, std::size_t alignment, std::size_t bytes) {
  *memory = memalign(alignment, bytes);
  return *memory == nullptr ? ENOMEM : 0;
}
}
