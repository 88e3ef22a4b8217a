// SPDX-License-Identifier: BSD-3-Clause
// TensorCore holds the operations of a warp of an NVIDIA GPU for the kernels of attention, above all the
// instruction that multiplies small matrices, mma.m16n8k16 of the PTX ISA (section "Matrix
// multiply-accumulate operation using mma instruction"). attention_tensor_core.hpp uses it. Kernels are
// templates over such a class: tests run them on the host, lane by lane (tests/support/emulated_warp.hpp). A
// new operation is needed in both.
//
// C (16 x 8) += A (16 x 16) B (16 x 8), bfloat16 factors, float sums. Each of the 32 lanes holds a few
// elements; with g = lane / 4 and t = lane % 4:
//   C   c[0], c[1]: row g, columns 2t, 2t + 1;  c[2], c[3]: row g + 8
//   A   a[0]: row g, columns 2t, 2t + 1;  a[1]: row g + 8;  a[2], a[3]: the same, 8 columns on
//   B   b0: rows 2t, 2t + 1 of column g;  b1: 8 rows on
// A word holds two bfloat16, the first one low, so two neighbouring C, rounded and packed, are an A.
#pragma once

#include <encore/bfloat16.hpp>
#include <encore/space.hpp>

namespace encore::kernels {

inline constexpr int warp_lanes = 32;

/// Returns two neighbours in memory, from an even element on.
KOKKOS_FORCEINLINE_FUNCTION std::uint32_t word_at(const bfloat16* pair) {
  return *reinterpret_cast<const std::uint32_t*>(pair);
}
/// Packs both, rounded as bfloat16 rounds.
KOKKOS_FORCEINLINE_FUNCTION std::uint32_t pack_pair(float low, float high) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  std::uint32_t pair;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(high), "f"(low));
  return pair;
#else
  return std::uint32_t{bfloat16(low).bits} | std::uint32_t{bfloat16(high).bits} << 16;
#endif
}
KOKKOS_FORCEINLINE_FUNCTION float low_of(std::uint32_t pair) {
  return Kokkos::bit_cast<float>(pair << 16);
}
KOKKOS_FORCEINLINE_FUNCTION float high_of(std::uint32_t pair) {
  return Kokkos::bit_cast<float>(pair & 0xFFFF0000U);
}

#if defined(KOKKOS_ENABLE_CUDA)
struct TensorCore {
  int lane;

  /// After it, all lanes see what the lanes wrote to memory before.
  KOKKOS_FORCEINLINE_FUNCTION void wait() const { KOKKOS_IF_ON_DEVICE((__syncwarp();)) }

  /// Copies 8 elements, or zeros where not `there`, to shared memory; both sides begin at multiples of 16
  /// bytes. They have arrived after wait_for_copies().
  KOKKOS_FORCEINLINE_FUNCTION void copy_chunk(bfloat16* to, const bfloat16* from, bool there) const {
    KOKKOS_IF_ON_DEVICE((asm volatile("cp.async.ca.shared.global [%0], [%1], 16, %2;"
                                      :
                                      : "r"(static_cast<std::uint32_t>(__cvta_generic_to_shared(to))),
                                        "l"(__cvta_generic_to_global(from)), "r"(there ? 16 : 0)
                                      : "memory");))
    KOKKOS_IF_ON_HOST(((void)to; (void)from; (void)there;))
  }
  /// Does wait(), and waits for the copies of all lanes.
  KOKKOS_FORCEINLINE_FUNCTION void wait_for_copies() const {
    KOKKOS_IF_ON_DEVICE((asm volatile("cp.async.wait_all;" ::: "memory"); __syncwarp();))
  }
  /// Sets these bits of a word in shared memory; lanes may name the same word.
  KOKKOS_FORCEINLINE_FUNCTION void set_bits(std::uint32_t* word, std::uint32_t bits) const {
    KOKKOS_IF_ON_DEVICE(
        (asm volatile("red.shared.or.b32 [%0], %1;"
                      :
                      : "r"(static_cast<std::uint32_t>(__cvta_generic_to_shared(word))), "r"(bits)
                      : "memory");))
    KOKKOS_IF_ON_HOST(((void)word; (void)bits;))
  }

  /// Returns `value` of the lane whose number differs in these bits.
  KOKKOS_FORCEINLINE_FUNCTION float from_neighbour(float value, int bits) const {
    KOKKOS_IF_ON_DEVICE((return __shfl_xor_sync(0xFFFFFFFFU, value, bits);))
    KOKKOS_IF_ON_HOST(((void)bits; return value;))
  }
  /// Returns `value` of the lane `source`.
  KOKKOS_FORCEINLINE_FUNCTION float from_lane(float value, int source) const {
    KOKKOS_IF_ON_DEVICE((return __shfl_sync(0xFFFFFFFFU, value, source);))
    KOKKOS_IF_ON_HOST(((void)source; return value;))
  }

  KOKKOS_FORCEINLINE_FUNCTION void multiply(const std::uint32_t (&a)[4], std::uint32_t b0, std::uint32_t b1,
                                            float (&c)[4]) const {
    KOKKOS_IF_ON_DEVICE(
        (asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
             "{%8, %9}, {%0, %1, %2, %3};"
             : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
             : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));))
    KOKKOS_IF_ON_HOST(((void)a; (void)b0; (void)b1; (void)c;))
  }
  /// Loads a block of 16 x 16 in shared memory as an A. Rows are `row` elements apart, and begin at multiples
  /// of 16 bytes.
  KOKKOS_FORCEINLINE_FUNCTION void load_rows(const bfloat16* block, int row, std::uint32_t (&a)[4]) const {
    load(block + (lane & 15) * row + (lane >> 4) * 8, a);
  }
  /// Loads its transpose as two neighbouring B: b[0], b[1] of its rows 0 to 7, b[2], b[3] of the others.
  KOKKOS_FORCEINLINE_FUNCTION void load_transposed(const bfloat16* block, int row,
                                                   std::uint32_t (&b)[4]) const {
    load(block + ((lane >> 4) * 8 + (lane & 7)) * row + (lane & 8), b);
  }
  /// Loads the block as two neighbouring B: b[0], b[1] of its columns 0 to 7, b[2], b[3] of the others.
  KOKKOS_FORCEINLINE_FUNCTION void load_columns(const bfloat16* block, int row, std::uint32_t (&b)[4]) const {
    const bfloat16* const from = block + (lane & 15) * row + (lane >> 4) * 8;
    KOKKOS_IF_ON_DEVICE((asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                                      : "=r"(b[0]), "=r"(b[1]), "=r"(b[2]), "=r"(b[3])
                                      : "r"(static_cast<std::uint32_t>(__cvta_generic_to_shared(from)))
                                      : "memory");))
    KOKKOS_IF_ON_HOST(((void)from; (void)b;))
  }
  /// Returns these elements of the transpose of an 8 x 8 matrix whose row g, columns 2t, 2t + 1 are `pair`.
  KOKKOS_FORCEINLINE_FUNCTION std::uint32_t transpose(std::uint32_t pair) const {
    KOKKOS_IF_ON_DEVICE((std::uint32_t result; asm("movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;"
                                                   : "=r"(result)
                                                   : "r"(pair));
                         return result;))
    KOKKOS_IF_ON_HOST((return pair;))
  }

  /// Uses one instruction each, good to about 22 bits; 2^x is 0 if it would be subnormal.
  KOKKOS_FORCEINLINE_FUNCTION float exp2(float x) const {
    KOKKOS_IF_ON_DEVICE((float y; asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x)); return y;))
    KOKKOS_IF_ON_HOST((return x;))
  }
  KOKKOS_FORCEINLINE_FUNCTION float log2(float x) const {
    KOKKOS_IF_ON_DEVICE((float y; asm("lg2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x)); return y;))
    KOKKOS_IF_ON_HOST((return x;))
  }
  KOKKOS_FORCEINLINE_FUNCTION float reciprocal(float x) const {
    KOKKOS_IF_ON_DEVICE((float y; asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x)); return y;))
    KOKKOS_IF_ON_HOST((return x;))
  }

 private:
  /// Four matrices of 8 x 8, whose rows begin where lanes 8 n to 8 n + 7 say.
  KOKKOS_FORCEINLINE_FUNCTION static void load(const bfloat16* from, std::uint32_t (&to)[4]) {
    KOKKOS_IF_ON_DEVICE((asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                                      : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
                                      : "r"(static_cast<std::uint32_t>(__cvta_generic_to_shared(from)))
                                      : "memory");))
    KOKKOS_IF_ON_HOST(((void)from; (void)to;))
  }
};
#endif

}  // namespace encore::kernels
