// SPDX-License-Identifier: BSD-3-Clause
// GemmLibrary is the interface of all libraries that compute matrix products (gemm_*.cpp). linear.cpp and
// layers see only kernels::gemm and kernels::linear; gemm.cpp chooses the library once per device. Every
// implementation keeps two promises: the bits of the result depend on operands and shapes, never on the
// number of threads; and its math mode is set, never inherited from the environment (float32 means float32).
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_map>

#include <encore/device.hpp>
#include <encore/kernels.hpp>

namespace encore::kernels {

/// The rows of an operand whose columns are added up first, before these sums are added in order.
inline constexpr std::int64_t rows_of_first_sums = 64;

/// c (M, N) (+)= activation(op(a) (M, K) op(b) (K, N) + bias (N)) * derivative'(saved (M, N)).
struct Product {
  Tensor a;
  Tensor b;
  Tensor c;
  bool transpose_a = false;
  bool transpose_b = false;
  Tensor bias = {};         ///< in the type of sums; empty: none
  bool relu = false;        ///< max(0, .) as the last step; not with `accumulate`
  bool accumulate = false;  ///< add to c instead of overwriting it
  /// Applied to c like kernels::activation_backward: with its bits, after c has been rounded to its type. It
  /// excludes `relu` and `accumulate`.
  kernels::Activation derivative = kernels::Activation::none;
  Tensor saved = {};  ///< in the type of c, not c itself
  /// Computes sums (M) += the sums of the columns of a, which is stored (K, M): blocks of rows_of_first_sums
  /// rows, then these in order, on a GPU in runs (gemm_epilogue.hpp). In the type of sums; empty: none; only
  /// with `transpose_a`.
  Tensor sums = {};
  /// b as GemmLibrary::lay_out of the multiplying library has left it, only with `transpose_b`; null: it is
  /// read where it lies.
  const void* layout = nullptr;

  std::int64_t rows() const { return c.extent(0); }
  std::int64_t columns() const { return c.extent(1); }
  std::int64_t inner() const { return a.extent(transpose_a ? 0 : 1); }
};

class GemmLibrary;

/// Maps weights (N, K) to their copies in the layout of a library. It does not own the memory;
/// model/laid_out_weights.hpp does.
class WeightLayouts {
 public:
  /// `library`: the one that multiplies, if there are several for weights of integers; null: the only one.
  void add(const Tensor& weight, const void* layout, GemmLibrary* library = nullptr) {
    entries_[weight.data] = {weight, layout, library};
  }
  /// Returns whether there is one of a matrix of this type and shape at this place.
  bool contains(const Tensor& weight) const;
  /// Returns the layout for a product; null if there is none.
  const void* find(const Tensor& weight) const;
  /// Returns the library that was passed to add() with it.
  GemmLibrary* library_of(const Tensor& weight) const { return entries_.at(weight.data).library; }
  /// Returns whether find() has returned it: a product was computed with it.
  bool was_found(const Tensor& weight) const;

 private:
  struct Entry {
    Tensor weight;
    const void* layout = nullptr;
    GemmLibrary* library = nullptr;
    mutable bool found = false;
  };
  std::unordered_map<const void*, Entry> entries_;
};

class GemmLibrary {
 public:
  virtual ~GemmLibrary() = default;
  /// Returns its name in numeric environments. Bits depend on it beside operands and shapes: "oneDNN 2.6.3
  /// (avx512_core_bf16)".
  virtual std::string name() const = 0;
  /// Returns whether it has products of matrices of this type.
  virtual bool multiplies(DType type) const = 0;
  /// Returns how often it has prepared for a new shape. The number does not change in steps of known shapes.
  virtual std::int64_t prepared() const { return 0; }
  /// Returns the bytes that a weight (N, K) takes in the layout in which products read it, 0 if that is as it
  /// lies. It is for a weight that many products read while it does not change.
  virtual std::size_t layout_bytes(const Tensor&) const { return 0; }
  /// Converts it to that layout: `to` has layout_bytes() bytes, aligned to 64. A product that reads it there
  /// has the bits of one that reads the matrix.
  virtual void lay_out(const Device&, const Tensor& /*weight*/, void* /*to*/) {}
  /// Computes a product. Shapes and types have been checked; no extent is zero.
  virtual void multiply(const Device& device, const Product& product) = 0;

  /// Returns the products while a BatchInvariance lives, whose layout is their own.
  virtual GemmLibrary& invariant() { return *this; }
  /// Returns the products with weights of 8 or 4 `bits`, which are read in its layout alone; null: there are
  /// none.
  virtual GemmLibrary* quantized(int /*bits*/) { return nullptr; }

  /// Returns whether a BatchInvariance lives.
  bool batch_invariant() const { return batch_invariant_; }
  /// Returns the layouts of a living LaidOutProducts, else null.
  const WeightLayouts* layouts() const { return layouts_; }
  /// Returns the weights of a living QuantizedProducts, else null.
  const WeightLayouts* quantized_weights() const { return quantized_weights_; }

 private:
  friend class BatchInvariance;
  friend class LaidOutProducts;
  friend class QuantizedProducts;
  bool batch_invariant_ = false;
  const WeightLayouts* layouts_ = nullptr;
  const WeightLayouts* quantized_weights_ = nullptr;
};

/// While it lives, the products of the device are batch-invariant: a row of c has the same bits whatever rows
/// stand beside it, so that a text that is generated row by row has the bits of the whole text. This is
/// promised on the host, where products are then computed by tiles of our own: oneDNN chooses among its
/// kernels by the number of rows. On a GPU nothing changes.
class BatchInvariance {
 public:
  /// Nothing changes unless `wanted`.
  BatchInvariance(const Device& device, bool wanted)
      : library_(device.gemm()), before_(library_.batch_invariant_) {
    library_.batch_invariant_ = before_ || wanted;
  }
  ~BatchInvariance() { library_.batch_invariant_ = before_; }
  BatchInvariance(const BatchInvariance&) = delete;
  BatchInvariance& operator=(const BatchInvariance&) = delete;

 private:
  GemmLibrary& library_;
  bool before_;
};

/// While it lives, weights that have a layout are read there. The layout is that of the products that are
/// computed then: of GemmLibrary::invariant if a BatchInvariance lives.
class LaidOutProducts {
 public:
  /// With null all weights are read where they lie.
  LaidOutProducts(const Device& device, const WeightLayouts* layouts)
      : library_(device.gemm()), before_(library_.layouts_) {
    library_.layouts_ = layouts;
  }
  ~LaidOutProducts() { library_.layouts_ = before_; }
  LaidOutProducts(const LaidOutProducts&) = delete;
  LaidOutProducts& operator=(const LaidOutProducts&) = delete;

 private:
  GemmLibrary& library_;
  const WeightLayouts* before_;
};

/// While it lives, products with one of these weights, each as a GemmLibrary::quantized() lays it out, are
/// computed with its integers: those of forward passes, kernels::linear. They are batch-invariant.
class QuantizedProducts {
 public:
  /// With null nothing changes.
  QuantizedProducts(const Device& device, const WeightLayouts* weights)
      : library_(device.gemm()), before_(library_.quantized_weights_) {
    if (weights != nullptr) library_.quantized_weights_ = weights;
  }
  ~QuantizedProducts() { library_.quantized_weights_ = before_; }
  QuantizedProducts(const QuantizedProducts&) = delete;
  QuantizedProducts& operator=(const QuantizedProducts&) = delete;

 private:
  GemmLibrary& library_;
  const WeightLayouts* before_;
};

/// Makes the library for every type: on the host tiles of our own, batch-invariant; for HIP Kokkos Kernels.
/// CUDA does not have it.
std::unique_ptr<GemmLibrary> make_portable_gemm();

#ifdef ENCORE_HAVE_ONEDNN
/// Makes products of float32 and bfloat16 on the host; passes other types to `other`.
std::unique_ptr<GemmLibrary> make_onednn_gemm(std::unique_ptr<GemmLibrary> other);
#endif

/// Makes products of bfloat16 by pairs, on the host; passes other types to `other`, or everything if the CPU
/// of the build has no instruction for pairs. They are batch-invariant.
std::unique_ptr<GemmLibrary> make_bfloat16_gemm(std::unique_ptr<GemmLibrary> other);

/// Makes products of bfloat16 by the tiles of AMX, on a host where amx::permission() has them; passes other
/// types to `other`, or everything if the build is for a CPU without AVX512_BF16. They are batch-invariant.
std::unique_ptr<GemmLibrary> make_amx_gemm(std::unique_ptr<GemmLibrary> other);
/// Makes the same with weights of 8-bit integers; null if the build has none. The bits are those of
/// make_integer_gemm(8).
std::unique_ptr<GemmLibrary> make_amx_integer_gemm();
/// Makes both with emulated tiles (amx_tiles.hpp): for tests, on every host.
std::unique_ptr<GemmLibrary> make_emulated_amx_gemm(std::unique_ptr<GemmLibrary> other);
std::unique_ptr<GemmLibrary> make_emulated_amx_integer_gemm();

/// Multiplies float32 and bfloat16 activations by weights of integers of 8 or 4 bits, on the host.
std::unique_ptr<GemmLibrary> make_integer_gemm(int bits);

#ifdef ENCORE_HAVE_CUBLASLT
/// Makes products of every type on NVIDIA GPUs.
std::unique_ptr<GemmLibrary> make_cublaslt_gemm();
#endif

/// Rounds the number of rows of a batch to the size for which cuBLASLt chooses an algorithm: batches differ
/// in their number of rows, and a choice for each number would take longer than the product. The choice
/// decides bits, so other sizes change the bits of runs on NVIDIA GPUs. Returns sizes up to 16 unchanged;
/// then multiples of 8, from 128 on of an eighth of the power of two below. The result is never less than
/// `size`, and from 64 on never more than nine eighths of it.
constexpr std::int64_t rounded_size(std::int64_t size) {
  if (size <= 16) return size;
  const auto power = static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(size)));
  const std::int64_t step = std::max<std::int64_t>(8, power / 8);
  return (size + step - 1) / step * step;
}

/// Makes the fastest library of this build for its backend. While a Kokkos tool listens, it receives every
/// product (product_label.hpp).
std::unique_ptr<GemmLibrary> make_gemm_library();

/// Makes bare products (no epilogue) without the first promise, to measure its price. It returns the library
/// of make_gemm_library() if that has no other way.
std::unique_ptr<GemmLibrary> make_free_gemm();

}  // namespace encore::kernels
