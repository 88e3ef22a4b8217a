// A warp of 32 threads of the host, with what kernels ask of a TensorCore (kernels/tensor_core.hpp), computed
// from that header's table of who holds what.
#pragma once

#include <array>
#include <barrier>
#include <cstdint>
#include <thread>
#include <vector>

#include "kernels/tensor_core.hpp"

namespace encore::test {

class WarpMemory {
 public:
  void wait() { barrier_.arrive_and_wait(); }

  struct Lane {
    float value = 0.0F;
    std::array<std::uint32_t, 4> a = {};
    std::array<std::uint32_t, 2> b = {};
  };
  std::array<Lane, kernels::warp_lanes> lanes;

 private:
  std::barrier<> barrier_{kernels::warp_lanes};
};

struct EmulatedWarp {
  int lane;
  WarpMemory* memory;

  void wait() const { memory->wait(); }
  float from_neighbour(float value, int bits) const {
    memory->lanes[static_cast<std::size_t>(lane)].value = value;
    wait();
    const float result = memory->lanes[static_cast<std::size_t>(lane ^ bits)].value;
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
  void load_columns(const bfloat16* block, int row, std::uint32_t (&b)[4]) const {
    const int g = lane / 4, t = lane % 4;
    for (int n = 0; n < 4; ++n) {
      const bfloat16* from = block + (n % 2 * 8 + 2 * t) * row + n / 2 * 8 + g;
      b[n] = std::uint32_t{from[0].bits} | std::uint32_t{from[row].bits} << 16;
    }
  }

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

/// kernel.run for the tiles 0 .. count - 1, one after the other.
template <class Kernel>
void run_emulated(const Kernel& kernel, std::int64_t count) {
  WarpMemory memory;
  struct alignas(16) Chunk {
    bfloat16 elements[8];
  };
  std::vector<Chunk> shared(Kernel::memory / 8);
  std::vector<std::jthread> threads;
  for (int lane = 0; lane < kernels::warp_lanes; ++lane)
    threads.emplace_back([&, lane] {
      for (std::int64_t number = 0; number < count; ++number) {
        kernel.run(EmulatedWarp{lane, &memory}, number, shared.data()->elements);
        memory.wait();
      }
    });
}

}  // namespace encore::test
