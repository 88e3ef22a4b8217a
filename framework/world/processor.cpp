// SPDX-License-Identifier: BSD-3-Clause
// Asks the CPU what it can run, through the compiler's support for CPUID, which also asks whether the system
// saves the registers. Read processor.hpp first.
#include "world/processor.hpp"

#include <algorithm>

namespace encore::world {
namespace {

#if defined(__x86_64__)
bool runs_v3() {
  return __builtin_cpu_supports("x86-64-v3") > 0;
}
bool runs_v4() {
  return __builtin_cpu_supports("x86-64-v4") > 0;
}
bool runs_cooperlake() {
  return runs_v4() && __builtin_cpu_supports("avx512vnni") > 0 && __builtin_cpu_supports("avx512bf16") > 0;
}
#else
bool runs_v3() {
  return false;
}
bool runs_v4() {
  return false;
}
bool runs_cooperlake() {
  return false;
}
#endif

constexpr Processor known[] = {{"cooperlake", "AVX-512 with bfloat16", runs_cooperlake},
                               {"x86-64-v4", "AVX-512", runs_v4},
                               {"x86-64-v3", "AVX2", runs_v3}};

}  // namespace

std::span<const Processor> processors() {
  return known;
}

const Processor* find_processor(std::string_view name) {
  const auto* found = std::ranges::find(known, name, &Processor::name);
  return found == std::end(known) ? nullptr : found;
}

}  // namespace encore::world
