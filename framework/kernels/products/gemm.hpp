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

/// The number of rows in a block whose columns are summed first; the sums of the blocks are then added in
/// order.
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
  /// The activation whose derivative is applied to c, with the bits of kernels::activation_backward, after c
  /// has been rounded to its type. Not together with `relu` or `accumulate`.
  kernels::Activation derivative = kernels::Activation::none;
  Tensor saved = {};  ///< in the type of c, not c itself
  /// If given, the product adds to sums (M), in the type of sums, the sums of the columns of a, which is
  /// stored (K, M). Blocks of rows_of_first_sums rows are summed first, then their sums are added in order,
  /// on a GPU in runs (gemm_epilogue.hpp). Only with `transpose_a`.
  Tensor sums = {};
  /// b in the layout that GemmLibrary::lay_out of the multiplying library has written; null: b itself is
  /// read. Only with `transpose_b`.
  const void* layout = nullptr;

  std::int64_t rows() const { return c.extent(0); }
  std::int64_t columns() const { return c.extent(1); }
  std::int64_t inner() const { return a.extent(transpose_a ? 0 : 1); }
};

class GemmLibrary;

/// Maps weights (N, K) to their copies in the layout of a library. model/laid_out_weights.hpp owns the memory
/// of the copies.
class WeightLayouts {
 public:
  /// `library`: the library that multiplies by this copy; null: the library of the device.
  void add(const Tensor& weight, const void* layout, GemmLibrary* library = nullptr) {
    entries_[weight.data] = {weight, layout, library};
  }
  /// Returns whether there is a copy of a matrix with this type, shape and address.
  bool contains(const Tensor& weight) const;
  /// Returns the copy of the weight for a product; null if there is none.
  const void* find(const Tensor& weight) const;
  /// Returns the library that was passed to add() with this weight.
  GemmLibrary* library_of(const Tensor& weight) const { return entries_.at(weight.data).library; }
  /// Returns whether find() has returned the copy of this weight, so that a product was computed with it.
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
  /// Returns the name of the library in numeric environments, such as "oneDNN 2.6.3 (avx512_core_bf16)". The
  /// bits of a product depend only on this name, the operands and the shapes.
  virtual std::string name() const = 0;
  /// Returns whether the library multiplies matrices of this type.
  virtual bool multiplies(DType type) const = 0;
  /// Returns the number of shapes that the library has prepared. Steps with known shapes do not change it.
  virtual std::int64_t prepared() const { return 0; }
  /// Returns the bytes that a weight (N, K) takes in the layout of the library; 0 if products read the weight
  /// itself. A layout is for a weight that does not change while many products read it.
  virtual std::size_t layout_bytes(const Tensor&) const { return 0; }
  /// Converts a weight to the layout of the library: `to` has layout_bytes() bytes, aligned to 64. A product
  /// that reads the layout has the bits of a product that reads the weight.
  virtual void lay_out(const Device&, const Tensor& /*weight*/, void* /*to*/) {}
  /// Computes a product. Shapes and types have been checked; no extent is zero.
  virtual void multiply(const Device& device, const Product& product) = 0;

  /// Returns the library that computes while a BatchInvariance lives. It has a layout of its own.
  virtual GemmLibrary& invariant() { return *this; }
  /// Returns the library for weights of 8 or 4 `bits`, which reads weights in its own layout only; null if
  /// there is none.
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

/// While an object lives, the products of the device are batch-invariant: the bits of a row of c do not
/// depend on the other rows. So text that is generated row by row has the bits of the whole text. On the host
/// products are then computed by tiles of our own, because oneDNN chooses among its kernels by the number of
/// rows. On a GPU nothing changes.
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

/// While an object lives, products read the copies of weights in `layouts`. The copies have the layout of the
/// library that computes: GemmLibrary::invariant if a BatchInvariance lives.
class LaidOutProducts {
 public:
  /// `layouts`: null if products read the weights themselves.
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

/// While an object lives, kernels::linear computes the forward products of these weights with their integers,
/// which a GemmLibrary::quantized() has laid out. These products are batch-invariant.
class QuantizedProducts {
 public:
  /// `weights`: null if nothing changes.
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
/// Makes products with weights of 8-bit integers by the tiles of AMX; null if the build has none. The bits
/// are those of make_integer_gemm(8).
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

/// Makes bare products (no epilogue) whose bits may depend on the number of threads, to measure what the
/// first promise costs. It returns the library of make_gemm_library() if that has no other way.
std::unique_ptr<GemmLibrary> make_free_gemm();

}  // namespace encore::kernels
