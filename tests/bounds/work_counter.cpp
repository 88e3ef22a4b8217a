// SPDX-License-Identifier: BSD-3-Clause
// Counts the work of a call (work_of) for the tests of this folder, which check that reading hostile input
// takes work in proportion to its size. Here are the function that the compiler calls in each basic block,
// and replacements of malloc, memcpy and others for the whole program. The limits of the tests are in these
// units, so counting something else changes them. This is the only file that is compiled without the
// counter, because it would call itself (CMakeLists.txt sets its options). Read work_counter.hpp first.
#include "bounds/work_counter.hpp"

#include <malloc.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstddef>

namespace {

constinit std::atomic<std::uint64_t> blocks{0}, bytes_touched{0}, allocated{0};
constinit std::atomic<std::int64_t> held{0}, most_held{0};

void touch(std::size_t bytes) {
  bytes_touched.fetch_add(bytes, std::memory_order_relaxed);
}

void take(void* block) {
  if (block == nullptr) return;
  const std::size_t bytes = malloc_usable_size(block);
  allocated.fetch_add(bytes, std::memory_order_relaxed);
  const auto signed_bytes = static_cast<std::int64_t>(bytes);
  const std::int64_t now = held.fetch_add(signed_bytes, std::memory_order_relaxed) + signed_bytes;
  std::int64_t most = most_held.load(std::memory_order_relaxed);
  while (now > most && !most_held.compare_exchange_weak(most, now, std::memory_order_relaxed)) {
  }
}

void give(void* block) {
  if (block != nullptr)
    held.fetch_sub(static_cast<std::int64_t>(malloc_usable_size(block)), std::memory_order_relaxed);
}

}  // namespace

// The linker takes definitions in the program before those of every library. glibc's own functions stay
// available under other names.
//
// The bytes of other functions are not counted: strcmp, memrchr and similar ones, and the zeroing of calloc.
extern "C" {

void __sanitizer_cov_trace_pc() {
  blocks.fetch_add(1, std::memory_order_relaxed);
}

void* __libc_malloc(std::size_t bytes);
void* __libc_calloc(std::size_t count, std::size_t bytes);
void* __libc_realloc(void* block, std::size_t bytes);
void* __libc_memalign(std::size_t alignment, std::size_t bytes);
void __libc_free(void* block);

void* malloc(std::size_t bytes) {
  void* block = __libc_malloc(bytes);
  take(block);
  return block;
}

void* calloc(std::size_t count, std::size_t bytes) {
  void* block = __libc_calloc(count, bytes);
  take(block);
  return block;
}

void* realloc(void* block, std::size_t bytes) {
  const std::size_t before = block == nullptr ? 0 : malloc_usable_size(block);
  void* moved = __libc_realloc(block, bytes);
  if (moved == nullptr && bytes > 0) return nullptr;
  held.fetch_sub(static_cast<std::int64_t>(before), std::memory_order_relaxed);
  touch(std::min(before, bytes));
  take(moved);
  return moved;
}

void* memalign(std::size_t alignment, std::size_t bytes) {
  void* block = __libc_memalign(alignment, bytes);
  take(block);
  return block;
}

void* aligned_alloc(std::size_t alignment, std::size_t bytes) {
  return memalign(alignment, bytes);
}

int posix_memalign(void** place, std::size_t alignment, std::size_t bytes) {
  *place = memalign(alignment, bytes);
  return *place == nullptr ? ENOMEM : 0;
}

void free(void* block) {
  give(block);
  __libc_free(block);
}

// CMakeLists.txt sets options that keep the compiler from replacing the loops below by calls of these same
// functions.

void* memcpy(void* __restrict to, const void* __restrict from, std::size_t bytes) {
  touch(bytes);
  auto* target = static_cast<unsigned char*>(to);
  const auto* source = static_cast<const unsigned char*>(from);
  for (std::size_t i = 0; i < bytes; ++i) target[i] = source[i];
  return to;
}

void* memmove(void* to, const void* from, std::size_t bytes) {
  touch(bytes);
  auto* target = static_cast<unsigned char*>(to);
  const auto* source = static_cast<const unsigned char*>(from);
  if (target <= source)
    for (std::size_t i = 0; i < bytes; ++i) target[i] = source[i];
  else
    for (std::size_t i = bytes; i-- > 0;) target[i] = source[i];
  return to;
}

void* memset(void* to, int value, std::size_t bytes) {
  touch(bytes);
  auto* target = static_cast<unsigned char*>(to);
  for (std::size_t i = 0; i < bytes; ++i) target[i] = static_cast<unsigned char>(value);
  return to;
}

int memcmp(const void* left, const void* right, std::size_t bytes) {
  const auto* a = static_cast<const unsigned char*>(left);
  const auto* b = static_cast<const unsigned char*>(right);
  std::size_t i = 0;
  while (i < bytes && a[i] == b[i]) ++i;
  touch(i);
  return i == bytes ? 0 : a[i] - b[i];
}

void* memchr(const void* in, int value, std::size_t bytes) {
  const auto* text = static_cast<const unsigned char*>(in);
  std::size_t i = 0;
  while (i < bytes && text[i] != static_cast<unsigned char>(value)) ++i;
  touch(i);
  return i == bytes ? nullptr : const_cast<unsigned char*>(text + i);
}

std::size_t strlen(const char* text) {
  std::size_t length = 0;
  while (text[length] != '\0') ++length;
  touch(length);
  return length;
}

}  // extern "C"

namespace encore::bounds {

Work work_of(const std::function<void()>& call) {
  constexpr std::uint64_t bytes_of_a_step = 8;  // they count as much as a block of code (Work::steps)
  const std::uint64_t blocks_before = blocks, bytes_before = bytes_touched, allocated_before = allocated;
  const std::int64_t held_before = held;
  most_held = held_before;
  call();
  return {.steps = blocks - blocks_before + (bytes_touched - bytes_before) / bytes_of_a_step,
          .peak = static_cast<std::uint64_t>(most_held - held_before),
          .allocated = allocated - allocated_before};
}

}  // namespace encore::bounds
