// SPDX-License-Identifier: BSD-3-Clause
// Random numbers as a pure function of where they are used: Philox4x32-10 (Salmon et al., SC 2011) with the
// key (seed, stream, step) and the counter (example, position, channel). So dropout does not depend on
// threads or packing, and backward draws the mask again instead of storing the mask. One counter yields four
// words: a row of `width` values uses counters 0 .. stride - 1 with stride = ceil(width / 4), and value c is
// word c / stride of counter c % stride, so that stores are contiguous. Results of runs depend on this order.
#pragma once

#include <cstdint>
#include <type_traits>

#include <encore/layer.hpp>
#include <encore/rows.hpp>

namespace encore {

struct RandomWords {
  std::uint32_t word[4];
};

/// Returns the 64-bit product of two 32-bit words.
KOKKOS_FORCEINLINE_FUNCTION std::uint64_t wide_product(std::uint32_t a, std::uint64_t b) {
#if defined(__CUDA_ARCH__)
  std::uint64_t product;  // nvcc would compute the lower half once more
  asm("mul.wide.u32 %0, %1, %2;" : "=l"(product) : "r"(a), "r"(static_cast<std::uint32_t>(b)));
  return product;
#else
  return a * b;
#endif
}

/// The block function of Philox: ten rounds on (c0, c1, c2, c3) with the key (k0, k1); Word is the type of
/// the variables that hold the words. Vector units of hosts multiply 32 bits to 64 only in 64-bit variables,
/// and narrowing between rounds costs more than it saves. A GPU has one instruction for it if they have 32
/// bits.
template <class Word>
KOKKOS_INLINE_FUNCTION RandomWords philox4x32_rounds(std::uint32_t c0, std::uint32_t c1, std::uint32_t c2,
                                                     std::uint32_t c3, std::uint32_t k0, std::uint32_t k1) {
  constexpr std::uint64_t low = 0xFFFFFFFFU;
  Word w0 = c0, w1 = c1, w2 = c2, w3 = c3;
  unroll<10>([&](int) {
    const std::uint64_t product0 = wide_product(0xD2511F53U, w0 & low);
    const std::uint64_t product1 = wide_product(0xCD9E8D57U, w2 & low);
    w0 = static_cast<Word>(product1 >> 32) ^ w1 ^ k0;
    w1 = static_cast<Word>(product1 & low);
    w2 = static_cast<Word>(product0 >> 32) ^ w3 ^ k1;
    w3 = static_cast<Word>(product0 & low);
    k0 += 0x9E3779B9U;
    k1 += 0xBB67AE85U;
  });
  return {{static_cast<std::uint32_t>(w0), static_cast<std::uint32_t>(w1), static_cast<std::uint32_t>(w2),
           static_cast<std::uint32_t>(w3)}};
}

KOKKOS_INLINE_FUNCTION RandomWords philox4x32(std::uint32_t c0, std::uint32_t c1, std::uint32_t c2,
                                              std::uint32_t c3, std::uint32_t k0, std::uint32_t k1) {
  using Word = std::conditional_t<ENCORE_HOST_BACKEND, std::uint64_t, std::uint32_t>;
  return philox4x32_rounds<Word>(c0, c1, c2, c3, k0, k1);
}

/// The generator of one stream in one step. Kernels capture it by value.
class Random {
 public:
  explicit Random(const RandomKey& key) {
    const std::uint64_t mixed = mix(mix(mix(key.seed) + key.stream) + key.step);
    key0_ = static_cast<std::uint32_t>(mixed);
    key1_ = static_cast<std::uint32_t>(mixed >> 32);
  }

  KOKKOS_INLINE_FUNCTION RandomWords words(std::int64_t example, std::uint32_t position,
                                           std::uint32_t counter) const {
    return philox4x32(counter, position, static_cast<std::uint32_t>(example),
                      static_cast<std::uint32_t>(static_cast<std::uint64_t>(example) >> 32), key0_, key1_);
  }
  /// The word of value `channel` in a row of `width`; `first_counter` separates rows that share a position.
  KOKKOS_INLINE_FUNCTION std::uint32_t word(std::int64_t example, std::uint32_t position,
                                            std::uint32_t first_counter, std::uint32_t channel,
                                            std::uint32_t width) const {
    const std::uint32_t stride = (width + 3) / 4;
    return words(example, position, first_counter + channel % stride).word[channel / stride];
  }

 private:
  /// The finalizer of SplitMix64: every bit of the input reaches every bit of the output.
  static std::uint64_t mix(std::uint64_t x) {
    x += 0x9E3779B97F4A7C15ULL;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ULL;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBULL;
    return x ^ (x >> 31);
  }
  std::uint32_t key0_;
  std::uint32_t key1_;
};

/// Returns a number in (0, 1) from a word of the generator.
KOKKOS_INLINE_FUNCTION double uniform(std::uint32_t word) {
  return (static_cast<double>(word) + 0.5) * 0x1p-32;
}

/// Dropout with a given probability: a value is kept and scaled up, or set to zero.
class Dropout {
 public:
  /// probability in [0, 1).
  explicit Dropout(double probability)
      : threshold_(static_cast<std::uint32_t>(probability * 0x1p32)), scale_(1.0 / (1.0 - probability)) {
    ENCORE_REQUIRE(probability >= 0.0 && probability < 1.0, "a dropout probability lies in [0, 1)");
  }
  /// The factor, 0 or 1 / (1 - probability), that a word stands for.
  template <class T>
  KOKKOS_INLINE_FUNCTION T factor(std::uint32_t word) const {
    return word >= threshold_ ? static_cast<T>(scale_) : T(0);
  }
  /// A word below this is dropped.
  KOKKOS_INLINE_FUNCTION std::uint32_t threshold() const { return threshold_; }
  /// 1 / (1 - probability).
  KOKKOS_INLINE_FUNCTION double scale() const { return scale_; }

 private:
  std::uint32_t threshold_;
  double scale_;
};

}  // namespace encore
