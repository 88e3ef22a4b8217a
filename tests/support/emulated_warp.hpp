// SPDX-License-Identifier: BSD-3-Clause
// EmulatedWarp: a warp of a GPU on the host, with the functions that kernels need of a TensorCore, computed
// from the table of owners in kernels/attention/tensor_core.hpp.
// unit/kernels/attention/attention_tensor_core_test.cpp runs kernels with it on machines without a GPU. Lanes
// take turns on one thread; each runs until it waits for the others.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <functional>
#include <vector>

#include <ucontext.h>

#include "kernels/attention/tensor_core.hpp"

namespace encore::test {

class WarpMemory {
 public:
  struct Lane {
    float value = 0.0F;
    std::array<std::uint32_t, 4> a = {};
    std::array<std::uint32_t, 2> b = {};
  };
  std::array<Lane, kernels::warp_lanes> lanes;

  /// Runs body(lane) for all lanes. Each lane must call wait() the same number of times.
  void run(const std::function<void(int)>& body) {
    body_ = &body;
    current_ = this;
    left_ = kernels::warp_lanes;
    for (Turn& turn : turns_) {
      turn.stack.resize(std::size_t{1} << 18);
      getcontext(&turn.context);
      turn.context.uc_stack.ss_sp = turn.stack.data();
      turn.context.uc_stack.ss_size = turn.stack.size();
      turn.context.uc_link = &caller_;
      makecontext(&turn.context, start, 0);
    }
    while (left_ > 0)
      for (running_ = 0; running_ < kernels::warp_lanes; ++running_) swapcontext(&caller_, &own().context);
  }
  /// Returns when every lane has called it.
  void wait() { swapcontext(&own().context, &caller_); }

 private:
  struct Turn {
    ucontext_t context{};
    std::vector<char> stack;
  };

  static void start() {
    WarpMemory& memory = *current_;
    (*memory.body_)(memory.running_);
    --memory.left_;
  }
  Turn& own() { return turns_[static_cast<std::size_t>(running_)]; }

  static inline WarpMemory* current_ = nullptr;
  std::array<Turn, kernels::warp_lanes> turns_;
  ucontext_t caller_{};
  const std::function<void(int)>* body_ = nullptr;
  int running_ = 0, left_ = 0;
};

struct EmulatedWarp {
  int lane;
  WarpMemory* memory;

  void wait() const { memory->wait(); }
  void copy_chunk(bfloat16* to, const bfloat16* from, bool there) const {
    for (int d = 0; d < 8; ++d) to[d] = there ? from[d] : bfloat16();
  }
  void wait_for_copies() const { wait(); }
  void set_bits(std::uint32_t* word, std::uint32_t bits) const { *word |= bits; }
  float from_neighbour(float value, int bits) const { return from_lane(value, lane ^ bits); }
  float from_lane(float value, int source) const {
    memory->lanes[static_cast<std::size_t>(lane)].value = value;
    wait();
    const float result = memory->lanes[static_cast<std::size_t>(source)].value;
    wait();
    return result;
  }
  void multiply(const std::uint32_t (&a)[4], std::uint32_t b0, std::uint32_t b1, float (&c)[4]) const {
    WarpMemory::Lane& own = memory->lanes[static_cast<std::size_t>(lane)];
    own.a = {a[0], a[1], a[2], a[3]};
    own.b = {b0, b1};
    wait();
    for (int e = 0; e < 4; ++e)
      for (int k = 0; k < 16; ++k) c[e] += a_at(lane / 4 + e / 2 * 8, k) * b_at(k, lane % 4 * 2 + e % 2);
    wait();
  }
  void load_rows(const bfloat16* block, int row, std::uint32_t (&a)[4]) const {
    const int g = lane / 4, t = lane % 4;
    for (int n = 0; n < 4; ++n) {
      const bfloat16* from = block + (n % 2 * 8 + g) * row + n / 2 * 8 + 2 * t;
      a[n] = std::uint32_t{from[0].bits} | std::uint32_t{from[1].bits} << 16;
    }
  }
  void load_transposed(const bfloat16* block, int row, std::uint32_t (&b)[4]) const {
    const int g = lane / 4, t = lane % 4;
    for (int n = 0; n < 4; ++n) {
      const bfloat16* from = block + (n / 2 * 8 + g) * row + n % 2 * 8 + 2 * t;
      b[n] = std::uint32_t{from[0].bits} | std::uint32_t{from[1].bits} << 16;
    }
  }
  void load_columns(const bfloat16* block, int row, std::uint32_t (&b)[4]) const {
    const int g = lane / 4, t = lane % 4;
    for (int n = 0; n < 4; ++n) {
      const bfloat16* from = block + (n % 2 * 8 + 2 * t) * row + n / 2 * 8 + g;
      b[n] = std::uint32_t{from[0].bits} | std::uint32_t{from[row].bits} << 16;
    }
  }
  std::uint32_t transpose(std::uint32_t pair) const {
    memory->lanes[static_cast<std::size_t>(lane)].a[0] = pair;
    wait();
    std::uint32_t result = 0;
    for (int n = 0; n < 2; ++n) {
      const int row = lane % 4 * 2 + n, column = lane / 4;  // in the matrix before it is transposed
      const std::uint32_t held = memory->lanes[static_cast<std::size_t>(row * 4 + column / 2)].a[0];
      result |= (held >> (column % 2 * 16) & 0xFFFFU) << (16 * n);
    }
    wait();
    return result;
  }
  float exp2(float x) const { return std::exp2(x); }
  float log2(float x) const { return std::log2(x); }
  float reciprocal(float x) const { return 1.0F / x; }

 private:
  static float element(std::uint32_t pair, int number) {
    return number == 0 ? kernels::low_of(pair) : kernels::high_of(pair);
  }
  float a_at(int i, int k) const {
    const auto& held = memory->lanes[static_cast<std::size_t>(i % 8 * 4 + k % 8 / 2)].a;
    return element(held[static_cast<std::size_t>(i / 8 + k / 8 * 2)], k % 2);
  }
  float b_at(int k, int j) const {
    const auto& held = memory->lanes[static_cast<std::size_t>(j * 4 + k % 8 / 2)].b;
    return element(held[static_cast<std::size_t>(k / 8)], k % 2);
  }
};

/// Runs kernel.run for all its warps, one after the other.
template <class Kernel>
void run_emulated(const Kernel& kernel) {
  const auto count = static_cast<int>(kernel.grid.warps);
  WarpMemory memory;
  struct alignas(16) Chunk {
    bfloat16 elements[8];
  };
  std::vector<Chunk> shared(Kernel::memory / 8);
  for (int number = 0; number < count; ++number)
    memory.run([&](const int lane) {
      kernel.run(EmulatedWarp{lane, &memory}, number, shared.data()->elements);
    });
}

}  // namespace encore::test
